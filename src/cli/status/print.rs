//! How `status` prints, once or again and again.

use serde_json::Value;

use super::{StatusArgs, exit_code};
use crate::cli::cluster::Cluster;
use crate::cli::output::OutputFormat;
use crate::engine::options::Scope;
use crate::error::ExitCode;
use crate::follow::Watch;
use crate::manifest;
use crate::ui::line::Line;
use crate::ui::printer::Printer;
use crate::ui::status::{Layout, Shown, StatusRecord, annotations, dashboard, markdown, rows};

/// Forms that a status can be printed in.
pub(super) const FORMATS: [OutputFormat; 8] = [
    OutputFormat::Table,
    OutputFormat::Wide,
    OutputFormat::Json,
    OutputFormat::Yaml,
    OutputFormat::Name,
    OutputFormat::Jsonl,
    OutputFormat::Markdown,
    OutputFormat::Github,
];

/// Prints statuses in the chosen form.
pub(super) struct View<'a> {
    format: OutputFormat,
    printer: &'a Printer,
    with_namespace: bool,
}

impl<'a> View<'a> {
    pub(super) fn new(args: &StatusArgs, format: OutputFormat, printer: &'a Printer) -> Self {
        Self {
            format,
            printer,
            with_namespace: args.selection.all_namespaces,
        }
    }

    /// Prints once.
    pub(super) fn print(&self, all: &[Shown]) -> anyhow::Result<()> {
        match self.format {
            OutputFormat::Table | OutputFormat::Wide => {
                self.printer
                    .data_lines(&self.lines(all, self.printer.table_columns()))?;
            }
            OutputFormat::Name => {
                for shown in all {
                    let name = &shown.diagnosis.verdict.object.name;
                    self.printer.data(format!("deployment.apps/{name}"))?;
                }
            }
            OutputFormat::Json => {
                let text = serde_json::to_string_pretty(&one_or_list(all)?)?;
                self.printer.document(&(text + "\n"))?;
            }
            OutputFormat::Yaml => {
                self.printer
                    .document(&manifest::to_yaml(&one_or_list(all)?))?;
            }
            OutputFormat::Jsonl => {
                for shown in all {
                    self.printer.json_line(&StatusRecord::of(shown))?;
                }
            }
            OutputFormat::Markdown => {
                self.printer.document(&markdown(all, self.layout(None)))?;
            }
            OutputFormat::Github => {
                for line in annotations(all) {
                    self.printer.data(line)?;
                }
            }
        }
        Ok(())
    }

    fn is_for_people(&self) -> bool {
        matches!(self.format, OutputFormat::Table | OutputFormat::Wide)
    }

    fn layout(&self, columns: Option<usize>) -> Layout {
        let wide = self.format == OutputFormat::Wide;
        Layout {
            columns: columns.filter(|_| !wide),
            with_namespace: self.with_namespace,
            wide,
            whole: false,
        }
    }

    fn lines(&self, all: &[Shown], columns: Option<usize>) -> Vec<Line> {
        let layout = self.layout(columns);
        match all {
            [one] => dashboard(one, layout),
            several => rows(several, layout),
        }
    }

    /// Prints again whenever something has changed: in place on a terminal, below the last elsewhere.
    pub(super) async fn watch(
        &self,
        args: &StatusArgs,
        cluster: &Cluster,
        scope: &Scope,
    ) -> anyhow::Result<ExitCode> {
        let mut told: Vec<Value> = Vec::new();
        let mut trouble = None;
        // Lines of the last frame that is on the terminal.
        let mut drawn = 0;
        let mut watch = Watch::new(
            cluster.client.clone(),
            cluster.clock,
            scope.clone(),
            args.presence(cluster),
        );
        loop {
            let looked = watch.next().await.map_err(anyhow::Error::from);
            match looked.and_then(|gathered| args.judge(cluster, scope, &gathered)) {
                Ok(all) => {
                    let now = facts(&all)?;
                    if self.printer.can_redraw() && self.is_for_people() {
                        let room = self.printer.size();
                        let mut lines = self.lines(&all, Some(room.columns));
                        lines.truncate(room.rows.saturating_sub(1));
                        self.printer.redraw(&lines, drawn)?;
                        drawn = lines.len();
                    } else if now != told {
                        self.print(&changed(&all, &told)?)?;
                    }
                    if args.exit_code && exit_code(&all) == ExitCode::Done {
                        return Ok(ExitCode::Done);
                    }
                    told = now;
                    trouble = None;
                }
                // The first look must succeed; later on the server may be away for a while.
                Err(error) if told.is_empty() => return Err(error),
                Err(error) => {
                    let error = error.to_string();
                    if trouble.as_ref() != Some(&error) {
                        self.printer.warning(&format!("{error}; trying again"));
                        trouble = Some(error);
                        drawn = 0;
                    }
                }
            }
        }
    }
}

/// What a reader would notice: everything but the passing of time.
fn facts(all: &[Shown]) -> serde_json::Result<Vec<Value>> {
    all.iter()
        .map(|shown| {
            let mut record = serde_json::to_value(StatusRecord::of(shown))?;
            record["time"] = Value::Null;
            record["verdict"]["deadlineLeftSeconds"] = Value::Null;
            Ok(record)
        })
        .collect()
}

/// Those that are not as they were told.
fn changed(all: &[Shown], told: &[Value]) -> serde_json::Result<Vec<Shown>> {
    let now = facts(all)?;
    let pairs = all.iter().zip(now);
    Ok(pairs
        .filter(|(_, fact)| !told.contains(fact))
        .map(|(shown, _)| shown.clone())
        .collect())
}

/// One record alone, several as a list.
fn one_or_list(all: &[Shown]) -> serde_json::Result<Value> {
    let mut records = all
        .iter()
        .map(|shown| serde_json::to_value(StatusRecord::of(shown)))
        .collect::<Result<Vec<Value>, _>>()?;
    if records.len() == 1 {
        return Ok(records.remove(0));
    }
    Ok(serde_json::json!({
        "apiVersion": "kubectl-rs/v1",
        "kind": "StatusList",
        "items": records,
    }))
}
