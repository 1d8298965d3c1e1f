//! Which objects a command is about: kubectl's resource arguments and the flags beside them.
//!
//! Only the grammar is decided here, in kubectl's words (rollout-commands section 1.2). What exists is for the server
//! to say, and label selectors reach it as they were written.

use clap::Args;
use kube::core::Status;

use super::go_flags;
use super::resource::Resource;
use crate::controller::action::Kind;
use crate::engine::store::Item;
use crate::error::Failure;

/// The arguments that select objects, as every command of kubectl's that works on several takes them.
#[derive(Clone, Debug, Default, Args)]
#[expect(clippy::duplicated_attributes, reason = "two flags, made the same")]
#[command(mut_arg("recursive", go_flags::off))]
#[command(mut_arg("all_namespaces", go_flags::off))]
pub struct ObjectArgs {
    /// TYPE/NAME…, TYPE NAME…, or TYPE alone for all of that type
    #[arg(value_name = "TYPE[/NAME]")]
    pub resources: Vec<String>,
    /// File, directory, or - for standard input
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "FILE",
        value_delimiter = ','
    )]
    pub filenames: Vec<String>,
    /// kubectl's flag for a directory to be built with kustomize
    #[arg(short = 'k', long, value_name = "DIR", hide = true)]
    pub kustomize: Option<String>,
    /// Take the directories named with -f as a whole, subdirectories included
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Label selector, such as app=web,tier!=db
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// All namespaces
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
}

/// What the arguments select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The objects, as far as they are named; none twice.
    pub targets: Targets<Kind>,
    /// The label selector, as written.
    pub selector: Option<String>,
    /// Whether to look in all namespaces.
    pub all_namespaces: bool,
}

/// How objects are named. `K` is how a command knows types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets<K> {
    /// Not at all: no argument and no file.
    Unnamed,
    /// All objects of these types.
    Types(Vec<K>),
    /// These, in this order.
    Named(Vec<Target<K>>),
    /// Those in these files and directories.
    Files {
        /// Files, directories, `-`.
        paths: Vec<String>,
        /// Whether subdirectories count.
        recursive: bool,
    },
}

/// One named object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target<K> {
    /// Its kind.
    pub kind: K,
    /// Its name.
    pub name: String,
}

/// The kind that a type argument names, where only Deployments and ReplicaSets will do.
///
/// # Errors
/// Another type.
fn parse_kind(word: &str) -> Result<Kind, Failure> {
    match Resource::parse(word)?.kind {
        "Deployment" => Ok(Kind::Deployment),
        "ReplicaSet" => Ok(Kind::ReplicaSet),
        _ => Err(
            Failure::usage(format!("cannot work on resource type \"{word}\""))
                .hint("Deployments and ReplicaSets are what can be named"),
        ),
    }
}

const FILES_AND_RESOURCES: &str = "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well";
const FILES_AND_NAMES: &str = "resource/name arguments cannot be provided when a path is specified";
// The closing parenthesis is missing in kubectl too.
const MIXED_FORMS: &str = "there is no need to specify a resource type as a separate argument when passing arguments in \
    resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of \
    'kubectl get resource resource/<resource_name>'";

impl ObjectArgs {
    /// What the arguments select, where only Deployments and ReplicaSets will do.
    ///
    /// # Errors
    /// Arguments that don't go together, in kubectl's words.
    pub fn selection(&self) -> Result<Selection, Failure> {
        let targets = match self.targets(parse_kind)? {
            Targets::Named(targets) => Targets::Named(without_repeats(targets)),
            Targets::Types(kinds) => Targets::Types(without_repeats(kinds)),
            targets => targets,
        };
        Ok(Selection {
            targets,
            selector: self.selector.clone(),
            all_namespaces: self.all_namespaces,
        })
    }

    /// How the arguments name objects; `parse` knows the types.
    ///
    /// # Errors
    /// Arguments that don't go together, in kubectl's words; whatever `parse` refuses.
    pub fn targets<K: Copy>(
        &self,
        parse: impl Fn(&str) -> Result<K, Failure>,
    ) -> Result<Targets<K>, Failure> {
        if let Some(directory) = &self.kustomize {
            return Err(
                Failure::usage("kustomize is not built in, so -k can't be used")
                    .hint(format!("kubectl kustomize {directory} | kubectl rs … -f -")),
            );
        }
        let slashed = self
            .resources
            .iter()
            .filter(|arg| arg.contains('/'))
            .count();
        let targets = if !self.filenames.is_empty() {
            self.files(slashed > 0)
        } else if slashed > 0 {
            self.slashed(slashed, parse)
        } else {
            self.spaced(parse)
        };
        match targets? {
            Targets::Named(_) if self.all_namespaces => Err(Failure::usage(
                "a resource cannot be retrieved by name across all namespaces",
            )),
            targets => Ok(targets),
        }
    }

    fn files<K>(&self, has_slashed: bool) -> Result<Targets<K>, Failure> {
        if has_slashed {
            return Err(Failure::usage(FILES_AND_NAMES));
        }
        if !self.resources.is_empty() {
            return Err(Failure::usage(FILES_AND_RESOURCES));
        }
        Ok(Targets::Files {
            paths: self.filenames.clone(),
            recursive: self.recursive,
        })
    }

    /// `TYPE/NAME…`.
    fn slashed<K>(
        &self,
        slashed: usize,
        parse: impl Fn(&str) -> Result<K, Failure>,
    ) -> Result<Targets<K>, Failure> {
        if slashed < self.resources.len() {
            return Err(Failure::usage(MIXED_FORMS));
        }
        let targets = self
            .resources
            .iter()
            .map(|arg| type_and_name(arg, &parse))
            .collect::<Result<Vec<_>, _>>()?;
        if self.selector.is_some() {
            return Err(Failure::usage(
                "selectors and the all flag cannot be used when passing resource/name arguments",
            ));
        }
        Ok(Targets::Named(targets))
    }

    /// `TYPE[,TYPE…] [NAME…]`.
    fn spaced<K: Copy>(
        &self,
        parse: impl Fn(&str) -> Result<K, Failure>,
    ) -> Result<Targets<K>, Failure> {
        let Some((types, names)) = self.resources.split_first() else {
            return Ok(Targets::Unnamed);
        };
        let kinds = types.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
        if names.is_empty() {
            return Ok(Targets::Types(kinds));
        }
        if self.selector.is_some() {
            return Err(Failure::usage(
                "name cannot be provided when a selector is specified",
            ));
        }
        let every_name = |kind: K| {
            names.iter().map(move |name| Target {
                kind,
                name: name.clone(),
            })
        };
        Ok(Targets::Named(
            kinds.into_iter().flat_map(every_name).collect(),
        ))
    }
}

fn type_and_name<K>(
    arg: &str,
    parse: impl Fn(&str) -> Result<K, Failure>,
) -> Result<Target<K>, Failure> {
    match arg.split('/').collect::<Vec<_>>()[..] {
        [type_, name] if !type_.is_empty() && !name.is_empty() && !type_.contains(',') => {
            Ok(Target {
                kind: parse(type_)?,
                name: name.to_owned(),
            })
        }
        [_, _] => Err(Failure::usage(
            "arguments in resource/name form must have a single resource and name",
        )),
        _ => Err(Failure::usage(
            "arguments in resource/name form may not have more than one slash",
        )),
    }
}

fn without_repeats<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    items.into_iter().fold(Vec::new(), |mut kept, item| {
        if !kept.contains(&item) {
            kept.push(item);
        }
        kept
    })
}

/// The API server's answer for a name that does not exist.
pub(super) fn not_found(item: &Item) -> Status {
    let name = &item.key.name;
    let message = format!("{}.apps \"{name}\" not found", item.kind.plural());
    Status::failure(&message, "NotFound").with_code(404)
}

#[cfg(test)]
mod tests;
