//! What `sync` leaves behind on stdout.

use serde_json::{Value, json};

use crate::cli::cluster::Cluster;
use crate::cli::manifests::resource;
use crate::cli::output::OutputFormat;
use crate::engine::run::Summary;
use crate::manifest;
use crate::ui::line::Line;
use crate::ui::printer::Printer;
use crate::ui::progress::{Board, Track};
use crate::ui::tables;

/// Prints the result in the chosen form.
///
/// # Errors
/// When the objects can't be read anew, or stdout can't be written.
pub(super) async fn print(
    summary: &Summary,
    board: &Board,
    cluster: &Cluster,
    printer: &Printer,
    format: OutputFormat,
) -> anyhow::Result<()> {
    match format {
        // Sync has neither of the last two.
        OutputFormat::Jsonl | OutputFormat::Markdown | OutputFormat::Github => {}
        OutputFormat::Table | OutputFormat::Wide => {
            printer.data_lines(&table(board, cluster, printer, format))?;
        }
        OutputFormat::Name => {
            for item in summary.ends.keys() {
                printer.data(format!("{}/{}", resource(item.kind), item.key.name))?;
            }
        }
        OutputFormat::Json => {
            let text =
                serde_json::to_string_pretty(&one_or_list(objects(summary, cluster).await?))?;
            printer.document(&(text + "\n"))?;
        }
        OutputFormat::Yaml => {
            let object = one_or_list(objects(summary, cluster).await?);
            printer.document(&manifest::to_yaml(&object))?;
        }
    }
    Ok(())
}

/// One Deployment with its revisions; several, a line each.
fn table(board: &Board, cluster: &Cluster, printer: &Printer, format: OutputFormat) -> Vec<Line> {
    let columns = match format {
        OutputFormat::Wide => None,
        _ => printer.table_columns(),
    };
    match board.tracks() {
        [] => Vec::new(),
        [
            Track {
                overview: Some(overview),
                ..
            },
        ] => tables::revisions(overview, cluster.clock.now(), columns),
        _ => tables::summary(board, columns),
    }
}

/// The selected objects as the server has them now.
async fn objects(summary: &Summary, cluster: &Cluster) -> Result<Vec<Value>, kube::Error> {
    let mut objects = Vec::new();
    for item in summary.ends.keys() {
        let path = item.kind.path(Some(&item.key.namespace));
        let request = kube::core::Request::new(path)
            .get(&item.key.name, &kube::api::GetParams::default())
            .map_err(kube::Error::BuildRequest)?;
        match cluster.client.request(request).await {
            Ok(object) => objects.push(object),
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(objects)
}

/// One object alone, several as a `List`, as kubectl prints them.
fn one_or_list(mut objects: Vec<Value>) -> Value {
    if objects.len() == 1 {
        return objects.remove(0);
    }
    json!({ "apiVersion": "v1", "kind": "List", "items": objects, "metadata": {} })
}
