//! `set image` (rollout-commands section 6).

use clap::Args;

use super::containers::Pairs;
use super::record;
use super::setting::Setting;
use crate::cli::after::{AfterFlags, Site};
use crate::cli::allow_missing::AllowMissing;
use crate::cli::cluster::ClusterFlags;
use crate::cli::dry_run::DryRunFlag;
use crate::cli::failures::Failures;
use crate::cli::go_flags;
use crate::cli::interrupt::Interrupts;
use crate::cli::kube_flags::KubeFlags;
use crate::cli::objects::{self, Found, Query};
use crate::cli::print::PrintFlags;
use crate::cli::selection::{ObjectArgs, Targets};
use crate::cli::view::ViewFlags;
use crate::engine::options::DryRun;
use crate::error::{ExitCode, Failure};

/// Change container images
///
/// Names are those of containers and init containers; '*' stands for all of them.
#[expect(clippy::duplicated_attributes, reason = "two flags, made the same")]
#[derive(Debug, Args)]
#[command(mut_arg("all", go_flags::off))]
#[command(mut_arg("local", go_flags::off))]
#[command(mut_arg("record", go_flags::boolean))]
#[command(after_help = EXAMPLES)]
pub(super) struct ImageArgs {
    /// Objects as in other commands, then CONTAINER=IMAGE…
    #[command(flatten)]
    objects: ObjectArgs,
    /// With a type alone: all objects of that type
    #[arg(long)]
    all: bool,
    /// Change what the files hold and print it; no server is asked
    #[arg(long)]
    local: bool,
    /// Note this command line in the annotation kubernetes.io/change-cause
    #[arg(long, hide = true)]
    record: Option<bool>,
    /// Say why, in the annotation kubernetes.io/change-cause
    #[arg(long, value_name = "TEXT")]
    cause: Option<String>,
    #[command(flatten)]
    dry_run: DryRunFlag,
    #[command(flatten)]
    print: PrintFlags,
    /// Name of the manager that the change is recorded under
    #[arg(
        long,
        value_name = "NAME",
        default_value = "kubectl-set",
        hide_short_help = true
    )]
    field_manager: String,
    #[command(flatten)]
    allow_missing: AllowMissing,
    #[command(flatten)]
    after: AfterFlags,
    /// Which cluster
    #[command(flatten)]
    cluster: ClusterFlags,
    /// What is shown
    #[command(flatten)]
    view: ViewFlags,
}

const EXAMPLES: &str = "\
Examples:
  # A new image for one container
  kubectl rs set image --embedded=examples/web.yaml deploy/web web=nginx:1.28 --wait

  # The same, and back to what was complete if the new pods fail
  kubectl rs set image --embedded=examples/web.yaml deploy/web web=nginx:1.28 --undo-on-failure

  # In stages: half of the new pods, then (after 'rollout resume --wait') the rest
  kubectl rs set image deploy/web web=nginx:1.28 --pause-at=50%

  # What would be stored with another image everywhere
  kubectl rs set image --embedded=examples/web.yaml deploy/web '*=nginx:1.27' --dry-run=server -o yaml";

const FILE_FORMS: [&str; 3] = [
    "Example resource specifications include:",
    "   '-f rsrc.yaml'",
    "   '--filename=rsrc.json'",
];

impl ImageArgs {
    pub(super) async fn run(
        &self,
        kube: &KubeFlags,
        verbose: bool,
        interrupts: Interrupts,
    ) -> anyhow::Result<ExitCode> {
        let printer = self.view.printer(verbose);
        if self.record.is_some() {
            printer
                .talk("Flag --record has been deprecated, --record will be removed in the future");
        }
        let dry_run = self.dry_run.mode(&printer)?;
        let mut form = self.print.form()?;
        let (resources, pairs) = split(&self.objects.resources)?;
        let objects = ObjectArgs {
            resources,
            ..self.objects.clone()
        };
        let setting = Setting {
            pairs,
            cause: self.change_cause(),
            field_manager: &self.field_manager,
            takes_all: self.all,
            is_local: self.local,
            dry_run,
        };
        if self.local {
            let found = local(&objects, kube)?;
            setting.validate(&objects)?;
            return setting.print_changed(found, &mut form, &printer);
        }
        let query = self.query(&objects)?;
        let cluster = self.cluster.open(kube).await?;
        let found = all_or_none(query.fetch(&cluster, kube).await?)?;
        setting.validate(&objects)?;
        if found.is_empty() {
            let namespace = cluster.namespace_or_all(objects.all_namespaces);
            return Ok(self.allow_missing.end(namespace, &printer));
        }
        if dry_run == DryRun::Client {
            return setting.print_changed(found, &mut form, &printer);
        }
        let site = Site {
            cluster: &cluster,
            flags: &self.cluster,
            printer: &printer,
            timestamps: self.view.timestamps,
        };
        if dry_run == DryRun::Server {
            let (_, failures) = setting.write(&found, site, &mut form).await?;
            return failures.finish();
        }
        let after = self.after.prepare(site, &found).await?;
        let (changed, failures) = setting.write(&found, site, &mut form).await?;
        after.follow(changed, failures, interrupts).await
    }

    fn change_cause(&self) -> Option<String> {
        if self.cause.is_some() {
            return self.cause.clone();
        }
        let words = || std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        (self.record == Some(true)).then(|| record::command_line(&words().collect::<Vec<_>>()))
    }

    /// A type alone stands for all of it only where that is said.
    fn query<'a>(&self, objects: &'a ObjectArgs) -> Result<Query<'a>, Failure> {
        let query = Query::new(objects)?;
        match query.targets() {
            Targets::Unnamed if objects.selector.is_some() => Err(Failure::usage(
                "at least one resource must be specified to use a selector",
            )),
            Targets::Unnamed => Err(Failure::usage(
                "You must provide one or more resources by argument or filename.",
            )
            .details(FILE_FORMS)
            .details(["   '<resource> <name>'", "   '<resource>'"])),
            Targets::Types(_) if !self.all && objects.selector.is_none() => Err(Failure::usage(
                "resource(s) were provided, but no name was specified",
            )
            .hint("--all takes every one of them, -l those with certain labels")),
            _ => Ok(query),
        }
    }
}

/// Parts the words into resources and images.
fn split(words: &[String]) -> Result<(Vec<String>, Pairs), Failure> {
    let has_sign = |word: &str| word.find('=').is_some_and(|place| place > 0);
    let is_pair = |word: &&String| has_sign(word) || word.ends_with('-') && *word != "-";
    let resources: Vec<String> = words
        .iter()
        .take_while(|word| !is_pair(word))
        .cloned()
        .collect();
    let pairs = &words[resources.len()..];
    if let Some(late) = pairs.iter().find(|word| !is_pair(word)) {
        return Err(Failure::usage(format!(
            "all resources must be specified before image changes: {late}"
        )));
    }
    let invalid: Vec<&str> = pairs
        .iter()
        .map(String::as_str)
        .filter(|word| !has_sign(word))
        .collect();
    if !invalid.is_empty() {
        return Err(Failure::usage(format!(
            "invalid image format: {}",
            invalid.join(", ")
        )));
    }
    let mut images = Pairs::new();
    for (name, image) in pairs.iter().filter_map(|pair| pair.split_once('=')) {
        images.retain(|(other, _)| other != name);
        images.push((name.to_owned(), image.to_owned()));
    }
    Ok((resources, images))
}

/// What the files hold, for `--local`.
fn local(objects: &ObjectArgs, kube: &KubeFlags) -> Result<Vec<Found>, Failure> {
    if !objects.resources.is_empty() || objects.filenames.is_empty() {
        return Err(Failure::usage(
            "you must specify resources by --filename when --local is set.",
        )
        .details(FILE_FORMS));
    }
    let namespace = kube.namespace.as_deref();
    objects::read_files(
        &objects.filenames,
        objects.recursive,
        kube.namespace_or_default(),
        namespace,
    )
}

/// Where one object can't be had, none is changed.
fn all_or_none(found: Vec<anyhow::Result<Found>>) -> anyhow::Result<Vec<Found>> {
    let (objects, failures) = Failures::part(found);
    failures.finish().map(|_| objects)
}
