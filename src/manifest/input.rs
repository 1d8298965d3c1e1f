//! What `-f` names, to text: files, directories and standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::document::parse;
use super::error::{Error, Mistake, Place};
use super::object::Object;

/// All inputs together. An object that an API server takes has at most some 1.5 MiB.
const LIMIT: u64 = 32 << 20;

/// What kubectl calls standard input.
const STDIN: &str = "STDIN";

/// The paths of `-f`, and whether subdirectories count.
#[derive(Clone, Debug, Default)]
pub struct Inputs<'a> {
    /// Files, directories, `-`.
    pub paths: &'a [String],
    /// Whether directories are taken with their subdirectories.
    pub recursive: bool,
}

impl Inputs<'_> {
    /// All objects in all inputs, in order. Everything is read before anything is returned.
    ///
    /// # Errors
    /// The first thing that is wrong: with the paths, then the files, then the objects.
    pub fn read(&self, stdin: impl Read) -> Result<Vec<Object>, Error> {
        let mut objects = Vec::new();
        for (name, bytes) in self.bytes(stdin)? {
            objects.extend(parse(&decode(bytes, &name)?, &name)?);
        }
        if objects.is_empty() {
            let names: Vec<_> = self.paths.iter().map(|path| shown(path)).collect();
            return Err(Error::Empty {
                files: names.join(", "),
            });
        }
        Ok(objects)
    }

    /// What the inputs hold, by name. All together are held against the limit before any is parsed.
    fn bytes(&self, stdin: impl Read) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let mut stdin = Some(stdin);
        let mut budget = LIMIT;
        let mut inputs = Vec::new();
        for file in self.files()? {
            let (name, bytes) = match file {
                None => {
                    let stdin = stdin.take().ok_or(Error::StdinTwice)?;
                    (STDIN.to_owned(), read_limited(STDIN, stdin, budget)?)
                }
                Some(path) => read_file(&path, budget)?,
            };
            budget -= bytes.len() as u64;
            inputs.push((name, bytes));
        }
        Ok(inputs)
    }

    /// The files behind the paths; `None` is standard input.
    fn files(&self) -> Result<Vec<Option<PathBuf>>, Error> {
        let mut files = Vec::new();
        for path in self.paths {
            if path == "-" {
                if files.contains(&None) {
                    return Err(Error::StdinTwice);
                }
                files.push(None);
            } else if path.starts_with("http://") || path.starts_with("https://") {
                return Err(Error::Url { url: path.clone() });
            } else {
                let path = Path::new(path);
                let metadata = path.metadata().map_err(|source| unreadable(path, source))?;
                if metadata.is_dir() {
                    files.extend(self.manifests_in(path)?.into_iter().map(Some));
                } else {
                    files.push(Some(path.to_owned()));
                }
            }
        }
        Ok(files)
    }

    /// The manifests in a directory, in the order of their names.
    fn manifests_in(&self, directory: &Path) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        let mut waiting = vec![directory.to_owned()];
        while let Some(path) = waiting.pop() {
            // A link to a directory is not followed: it might lead back.
            let is_directory = path == directory || (path.is_dir() && !path.is_symlink());
            if is_directory && (self.recursive || path == directory) {
                let mut entries = path
                    .read_dir()
                    .and_then(|entries| {
                        entries
                            .map(|entry| Ok(entry?.path()))
                            .collect::<io::Result<Vec<_>>>()
                    })
                    .map_err(|source| unreadable(&path, source))?;
                entries.sort_unstable_by(|a, b| b.cmp(a));
                waiting.extend(entries);
            } else if path.is_file() && is_manifest(&path) {
                files.push(path);
            }
        }
        if files.is_empty() {
            return Err(Error::NoManifests {
                path: directory.display().to_string(),
            });
        }
        Ok(files)
    }
}

fn shown(path: &str) -> &str {
    if path == "-" { STDIN } else { path }
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("json" | "yaml" | "yml"))
}

fn read_file(path: &Path, budget: u64) -> Result<(String, Vec<u8>), Error> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| unreadable(path, source))?;
    let size = file
        .metadata()
        .map_err(|source| unreadable(path, source))?
        .len();
    if size > budget {
        return Err(too_large(&name));
    }
    let bytes = read_limited(&name, file, budget)?;
    Ok((name, bytes))
}

fn read_limited(name: &str, input: impl Read, budget: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    input
        .take(budget + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| unreadable(Path::new(name), source))?;
    if bytes.len() as u64 > budget {
        return Err(too_large(name));
    }
    Ok(bytes)
}

/// Text from bytes: UTF-8, or UTF-16 with a byte order mark, as Windows' shells write it.
fn decode(bytes: Vec<u8>, name: &str) -> Result<String, Error> {
    let utf16 = |from: fn([u8; 2]) -> u16| {
        let units = bytes[2..]
            .chunks(2)
            .map(|pair| from([pair[0], pair.get(1).copied().unwrap_or(0)]));
        char::decode_utf16(units).collect::<Result<String, _>>()
    };
    let binary = || Error::Binary {
        path: name.to_owned(),
    };
    let text = match bytes.as_slice() {
        [0xff, 0xfe, ..] => utf16(u16::from_le_bytes).map_err(|_| binary())?,
        [0xfe, 0xff, ..] => utf16(u16::from_be_bytes).map_err(|_| binary())?,
        bytes if bytes.contains(&0) => return Err(binary()),
        _ => String::from_utf8(bytes).map_err(|error| not_utf8(&error, name))?,
    };
    Ok(text)
}

fn not_utf8(error: &std::string::FromUtf8Error, name: &str) -> Error {
    let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
    let place = Place {
        file: Arc::from(name),
        document: 1,
        line: 1 + valid.matches('\n').count(),
    };
    place.mistake(Mistake::NotUtf8)
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    let path = path.display().to_string();
    match source.kind() {
        io::ErrorKind::NotFound => Error::Missing { path },
        _ => Error::Unreadable { path, source },
    }
}

fn too_large(name: &str) -> Error {
    Error::TooLarge {
        path: name.to_owned(),
        limit_mib: LIMIT >> 20,
    }
}
