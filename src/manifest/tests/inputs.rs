//! Files, directories and standard input.

use std::fs;
use std::path::Path;

use crate::manifest::Inputs;

fn manifest(name: &str) -> String {
    format!("apiVersion: v1\nkind: Foo\nmetadata: {{name: {name}}}\n")
}

/// The names of all objects, or what is wrong. Paths are relative to `dir`.
fn read(dir: &Path, paths: &[&str], recursive: bool, stdin: &[u8]) -> Result<Vec<String>, String> {
    let absolute = |path: &&str| match *path {
        "-" => "-".to_owned(),
        path => dir.join(path).display().to_string(),
    };
    let paths: Vec<String> = paths.iter().map(absolute).collect();
    let objects = Inputs {
        paths: &paths,
        recursive,
    }
    .read(stdin);
    match objects {
        Ok(objects) => Ok(objects
            .iter()
            .map(|object| object.name().to_owned())
            .collect()),
        Err(error) => Err(error
            .to_string()
            .replace(&format!("{}/", dir.display()), "")),
    }
}

#[test]
fn directories_files_and_stdin_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &[u8]| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("b.yaml", manifest("b").as_bytes());
    write("a.yml", manifest("a").as_bytes());
    write(
        "c.json",
        br#"{"apiVersion":"v1","kind":"Foo","metadata":{"name":"c"}}"#,
    );
    write("notes.txt", b"no manifest");
    write("sub/d.yaml", manifest("d").as_bytes());
    write("sub/deep/e.yaml", manifest("e").as_bytes());
    write("utf16.txt", &utf16(&manifest("wide")));
    let names = |paths: &[&str], recursive| {
        read(dir.path(), paths, recursive, manifest("stdin").as_bytes()).unwrap()
    };

    assert_eq!(names(&[""], false), ["a", "b", "c"]);
    assert_eq!(names(&[""], true), ["a", "b", "c", "d", "e"]);
    assert_eq!(names(&["sub", "-", "b.yaml"], false), ["d", "stdin", "b"]);
    assert_eq!(names(&["utf16.txt"], false), ["wide"]);
}

fn utf16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

#[test]
fn inputs_that_cannot_be_used() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::write(dir.path().join("nothing.yaml"), "# nothing\n").unwrap();
    fs::write(dir.path().join("junk"), [0x7f, b'E', b'L', b'F', 0, 0xff]).unwrap();
    fs::write(dir.path().join("latin1.yaml"), b"a: b\nc: caf\xe9\n").unwrap();
    let sparse = fs::File::create(dir.path().join("big.yaml")).unwrap();
    sparse.set_len(50 << 20).unwrap();
    let cases: [&[&str]; 10] = [
        &["nope.yaml"],
        &["empty"],
        &["nothing.yaml"],
        &["nothing.yaml", "-"],
        &["-", "-"],
        &["junk"],
        &["latin1.yaml"],
        &["big.yaml"],
        &["nothing.yaml/x"],
        &["nope.yaml", "junk"],
    ];
    let told: Vec<_> = cases
        .into_iter()
        .map(|paths| {
            format!(
                "{}: {}",
                paths.join(" "),
                read(dir.path(), paths, false, b"").unwrap_err()
            )
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    nope.yaml: the path "nope.yaml" does not exist
    empty: error reading [empty]: recognized file extensions are [.json .yaml .yml]
    nothing.yaml: no objects in nothing.yaml
    nothing.yaml -: no objects in nothing.yaml, STDIN
    - -: standard input cannot be used for multiple arguments
    junk: junk is binary, not YAML or JSON
    latin1.yaml: latin1.yaml:2: invalid UTF-8
    big.yaml: big.yaml is too large: manifests may have 32 MiB together
    nothing.yaml/x: cannot read nothing.yaml/x: Not a directory (os error 20)
    nope.yaml junk: the path "nope.yaml" does not exist
    "#);
    let url = Inputs {
        paths: &["https://example.com/x.yaml".to_owned()],
        recursive: false,
    };
    assert_eq!(
        url.read(&b""[..]).unwrap_err().to_string(),
        "https://example.com/x.yaml is not a file (download it, or pipe it to `-f -`)"
    );
}

#[test]
fn the_limit_holds_for_all_inputs_together() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.yaml", "b.yaml"] {
        let sparse = fs::File::create(dir.path().join(name)).unwrap();
        sparse.set_len(20 << 20).unwrap();
    }
    let read = |paths: &[&str]| read(dir.path(), paths, false, &[]).unwrap_err();
    assert_eq!(read(&["a.yaml"]), "a.yaml is binary, not YAML or JSON");
    assert_eq!(
        read(&["a.yaml", "b.yaml"]),
        "b.yaml is too large: manifests may have 32 MiB together"
    );
}
