//! Which objects a command is about: kubectl's resource arguments and the flags beside them.
//!
//! Only the grammar is decided here, in kubectl's words (rollout-commands section 1.2). What exists is for the server
//! to say, and label selectors reach it as they were written.

use clap::Args;
use kube::core::Status;

use crate::controller::action::Kind;
use crate::engine::store::Item;
use crate::error::Failure;

/// The arguments that select objects.
#[derive(Clone, Debug, Default, Args)]
pub struct SelectionArgs {
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
    /// The objects, as far as they are named.
    pub targets: Targets,
    /// The label selector, as written.
    pub selector: Option<String>,
    /// Whether to look in all namespaces.
    pub all_namespaces: bool,
}

/// How objects are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// Not at all: no argument and no file.
    Unnamed,
    /// All objects of these types.
    Types(Vec<Kind>),
    /// These, in this order, none twice.
    Named(Vec<Target>),
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
pub struct Target {
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
}

/// The kind that a type argument names: singular, plural or short, with version and group or without.
///
/// # Errors
/// Another type.
fn parse_kind(word: &str) -> Result<Kind, Failure> {
    let lower = word.to_ascii_lowercase();
    let (resource, group) = lower.split_once('.').unwrap_or((&lower, "apps"));
    let kind = match resource {
        "deployment" | "deployments" | "deploy" => Some(Kind::Deployment),
        "replicaset" | "replicasets" | "rs" => Some(Kind::ReplicaSet),
        _ => None,
    };
    match kind.filter(|_| matches!(group, "apps" | "v1.apps")) {
        Some(kind) => Ok(kind),
        None if OTHER_TYPES.contains(&lower.as_str()) => Err(Failure::usage(format!(
            "cannot work on resource type \"{word}\""
        ))
        .hint("Deployments and ReplicaSets are what can be named")),
        None => Err(Failure::usage(format!(
            "the server doesn't have a resource type \"{}\"",
            word.split('.').next().unwrap_or(word)
        ))),
    }
}

/// Types that every server has and that users may well try: told apart from misspelt ones.
const OTHER_TYPES: [&str; 25] = [
    "all",
    "po",
    "pod",
    "pods",
    "ds",
    "daemonset",
    "daemonsets",
    "sts",
    "statefulset",
    "statefulsets",
    "job",
    "jobs",
    "cj",
    "cronjob",
    "cronjobs",
    "rc",
    "replicationcontroller",
    "replicationcontrollers",
    "svc",
    "service",
    "services",
    "hpa",
    "ns",
    "namespace",
    "namespaces",
];

const FILES_AND_RESOURCES: &str = "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well";
const FILES_AND_NAMES: &str = "resource/name arguments cannot be provided when a path is specified";
// The closing parenthesis is missing in kubectl too.
const MIXED_FORMS: &str = "there is no need to specify a resource type as a separate argument when passing arguments in \
    resource/name form (e.g. 'kubectl rs sync resource/<resource_name>' instead of \
    'kubectl rs sync resource resource/<resource_name>'";

impl SelectionArgs {
    /// What the arguments select.
    ///
    /// # Errors
    /// Arguments that don't go together, in kubectl's words.
    pub fn selection(&self) -> Result<Selection, Failure> {
        let slashed = self
            .resources
            .iter()
            .filter(|arg| arg.contains('/'))
            .count();
        let targets = if !self.filenames.is_empty() {
            self.files(slashed > 0)?
        } else if slashed > 0 {
            self.slashed(slashed)?
        } else {
            self.spaced()?
        };
        if self.all_namespaces && matches!(targets, Targets::Named(_)) {
            return Err(Failure::usage(
                "a resource cannot be retrieved by name across all namespaces",
            ));
        }
        Ok(Selection {
            targets,
            selector: self.selector.clone(),
            all_namespaces: self.all_namespaces,
        })
    }

    fn files(&self, has_slashed: bool) -> Result<Targets, Failure> {
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
    fn slashed(&self, slashed: usize) -> Result<Targets, Failure> {
        if slashed < self.resources.len() {
            return Err(Failure::usage(MIXED_FORMS));
        }
        let targets = self
            .resources
            .iter()
            .map(|arg| type_and_name(arg))
            .collect::<Result<Vec<_>, _>>()?;
        if self.selector.is_some() {
            return Err(Failure::usage(
                "selectors and the all flag cannot be used when passing resource/name arguments",
            ));
        }
        Ok(Targets::Named(without_repeats(targets)))
    }

    /// `TYPE[,TYPE…] [NAME…]`.
    fn spaced(&self) -> Result<Targets, Failure> {
        let Some((types, names)) = self.resources.split_first() else {
            return Ok(Targets::Unnamed);
        };
        let kinds = types
            .split(',')
            .map(parse_kind)
            .collect::<Result<Vec<_>, _>>()?;
        let kinds = without_repeats(kinds);
        if names.is_empty() {
            return Ok(Targets::Types(kinds));
        }
        if self.selector.is_some() {
            return Err(Failure::usage(
                "name cannot be provided when a selector is specified",
            ));
        }
        let every_name = |kind: Kind| {
            names.iter().map(move |name| Target {
                kind,
                name: name.clone(),
            })
        };
        Ok(Targets::Named(without_repeats(
            kinds.into_iter().flat_map(every_name).collect(),
        )))
    }
}

fn type_and_name(arg: &str) -> Result<Target, Failure> {
    match arg.split('/').collect::<Vec<_>>()[..] {
        [type_, name] if !type_.is_empty() && !name.is_empty() && !type_.contains(',') => {
            Ok(Target {
                kind: parse_kind(type_)?,
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
