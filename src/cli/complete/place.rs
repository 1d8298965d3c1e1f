//! Where on the command line the cursor is, and what can stand there.

use clap::{Arg, Command};

use super::Candidate;

/// Flags that take names which only a kubeconfig or a cluster knows.
const LIVE_FLAGS: [(&str, Live); 5] = [
    ("namespace", Live::Namespaces),
    ("context", Live::Contexts),
    ("revision", Live::Revisions),
    ("to-revision", Live::Revisions),
    ("diff", Live::Revisions),
];

/// Flags that take files.
const FILE_FLAGS: [&str; 8] = [
    "filename",
    "kubeconfig",
    "embedded",
    "certificate-authority",
    "client-certificate",
    "client-key",
    "cache-dir",
    "token",
];

/// Forms of output, where a flag does not list its values.
const OUTPUTS: [&str; 4] = ["json", "yaml", "name", "wide"];

/// The place.
#[derive(Debug, PartialEq)]
pub(super) struct Place {
    /// What candidates must begin with.
    pub(super) partial: String,
    /// What can stand there.
    pub(super) wanted: Wanted,
    /// The words before it that are neither commands nor flags.
    pub(super) arguments: Vec<String>,
    /// The flags before it, by their long names.
    pub(super) flags: Vec<(String, String)>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Wanted {
    /// Files, which the shell knows.
    Files,
    /// These.
    Given(Vec<Candidate>),
    /// What only a kubeconfig or a cluster knows.
    Live(Live),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Live {
    Namespaces,
    Contexts,
    /// Of the object that is named before.
    Revisions,
    /// Types, and the Deployments by name.
    Objects,
    /// Of the type that is named before or in the word.
    Names,
    /// Of the object that is named before.
    Containers,
}

impl Place {
    /// Goes through the words.
    pub(super) fn of(root: &Command, words: &[String]) -> Self {
        let (partial, before) = match words.split_last() {
            Some((partial, before)) => (partial.clone(), before),
            None => (String::new(), words),
        };
        let mut walk = Walk {
            command: root,
            path: Vec::new(),
            arguments: Vec::new(),
            flags: Vec::new(),
            pending: None,
        };
        for word in before {
            walk.take(word);
        }
        let wanted = walk.wanted(&partial);
        Self {
            partial,
            wanted,
            arguments: walk.arguments,
            flags: walk.flags,
        }
    }
}

struct Walk<'a> {
    command: &'a Command,
    path: Vec<&'a str>,
    arguments: Vec<String>,
    flags: Vec<(String, String)>,
    /// The flag whose value comes next.
    pending: Option<&'a Arg>,
}

impl<'a> Walk<'a> {
    fn take(&mut self, word: &str) {
        if let Some(flag) = self.pending.take() {
            self.note(flag, word);
        } else if word.starts_with('-') && word.len() > 1 {
            let (name, value) = word
                .split_once('=')
                .map_or((word, None), |(name, value)| (name, Some(value)));
            if let Some(flag) = self.flag(name) {
                match value {
                    Some(value) => self.note(flag, value),
                    None if takes_word(flag) => self.pending = Some(flag),
                    None => self.note(flag, "true"),
                }
            }
        } else if let Some(command) = self
            .command
            .find_subcommand(word)
            .filter(|_| self.arguments.is_empty())
        {
            self.path.push(command.get_name());
            self.command = command;
        } else {
            self.arguments.push(word.to_owned());
        }
    }

    fn note(&mut self, flag: &Arg, value: &str) {
        let name = flag.get_long().unwrap_or_default();
        self.flags.push((name.to_owned(), value.to_owned()));
    }

    fn flag(&self, word: &str) -> Option<&'a Arg> {
        let mut arguments = self.command.get_arguments();
        match word.strip_prefix("--") {
            Some(long) => arguments.find(|argument| argument.get_long() == Some(long)),
            None => arguments.find(|argument| argument.get_short() == word.chars().nth(1)),
        }
    }

    fn wanted(&self, partial: &str) -> Wanted {
        if let Some(flag) = self.pending {
            return value_of(flag, "");
        }
        if let Some((name, _)) = partial.split_once('=').filter(|_| partial.starts_with('-')) {
            return match self.flag(name) {
                Some(flag) => value_of(flag, &format!("{name}=")),
                None => Wanted::Given(Vec::new()),
            };
        }
        if partial.starts_with('-') {
            return Wanted::Given(self.flags_to_offer());
        }
        if self.command.has_subcommands() {
            return Wanted::Given(self.subcommands());
        }
        self.argument(partial)
    }

    fn subcommands(&self) -> Vec<Candidate> {
        let commands = self.command.get_subcommands();
        let commands = commands.filter(|command| !command.is_hide_set());
        commands
            .map(|command| Candidate::new(command.get_name(), about(command.get_about())))
            .collect()
    }

    fn flags_to_offer(&self) -> Vec<Candidate> {
        let flags = self.command.get_arguments();
        flags
            .filter(|flag| !flag.is_hide_set())
            .filter_map(|flag| Some((flag.get_long()?, flag)))
            .map(|(long, flag)| Candidate::new(format!("--{long}"), about(flag.get_help())))
            .collect()
    }

    fn argument(&self, partial: &str) -> Wanted {
        let positional = self.command.get_positionals().next();
        let Some(positional) = positional else {
            return Wanted::Given(Vec::new());
        };
        if positional.get_id() != "resources" {
            return value_of(positional, "");
        }
        let names_object = |word: &String| word.contains('/');
        let is_set_image = self.path == ["set", "image"];
        Wanted::Live(match &self.arguments[..] {
            _ if partial.contains('/') => Live::Names,
            [] => Live::Objects,
            [first, ..] if is_set_image && names_object(first) => Live::Containers,
            [_, _, ..] if is_set_image => Live::Containers,
            [first, ..] if names_object(first) => Live::Objects,
            _ => Live::Names,
        })
    }
}

/// Whether a flag's value may be the next word.
fn takes_word(flag: &Arg) -> bool {
    flag.get_action().takes_values() && !flag.is_require_equals_set()
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

fn value_of(flag: &Arg, prefix: &str) -> Wanted {
    let name = flag.get_long().unwrap_or_default();
    if let Some((_, live)) = LIVE_FLAGS.iter().find(|(known, _)| *known == name) {
        return Wanted::Live(*live);
    }
    if FILE_FLAGS.contains(&name) {
        return Wanted::Files;
    }
    let values: Vec<String> = match name {
        "output" => OUTPUTS.map(str::to_owned).to_vec(),
        "dry-run" => ["none", "client", "server"].map(str::to_owned).to_vec(),
        _ => flag
            .get_possible_values()
            .iter()
            .map(|value| value.get_name().to_owned())
            .collect(),
    };
    let candidates = values
        .into_iter()
        .map(|value| Candidate::new(format!("{prefix}{value}"), ""));
    Wanted::Given(candidates.collect())
}
