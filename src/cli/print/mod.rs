//! Printing objects as kubectl prints them: the flags, and what they come to.
//!
//! Read before anything is sent, so that a form which does not exist costs nothing. kubectl finds out only afterwards.

mod go_json;

use std::fs;

use clap::Args;
use serde_json::Value;

use super::go_flags;
use super::objects::Found;
use crate::error::Failure;
use crate::manifest;
use crate::ui::jsonpath::JsonPath;
use crate::ui::printer::Printer;

/// The forms that kubectl has, in the order in which it lists them.
const FORMATS: [&str; 11] = [
    "go-template",
    "go-template-file",
    "json",
    "jsonpath",
    "jsonpath-as-json",
    "jsonpath-file",
    "kyaml",
    "name",
    "template",
    "templatefile",
    "yaml",
];

/// The flags that say how objects are printed.
#[derive(Clone, Debug, Default, Args)]
#[command(mut_arg("allow_missing_template_keys", go_flags::boolean))]
#[command(mut_arg("show_managed_fields", go_flags::off))]
pub(super) struct PrintFlags {
    /// Output format: json, yaml, name, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE, jsonpath-file=FILE
    #[arg(short = 'o', long = "output", value_name = "FORMAT")]
    pub(super) output: Option<String>,
    /// The template of -o jsonpath, or the file of -o jsonpath-file
    #[arg(long, value_name = "TEMPLATE", hide_short_help = true)]
    template: Option<String>,
    /// Whether a field that a template names may be missing
    #[arg(long, default_value = "true", hide_short_help = true)]
    allow_missing_template_keys: bool,
    /// Keep managedFields in json and yaml
    #[arg(long, hide_short_help = true)]
    show_managed_fields: bool,
}

/// How objects are printed.
#[derive(Debug)]
pub(super) struct Form {
    shape: Shape,
    show_managed_fields: bool,
    documents: usize,
}

#[derive(Debug, PartialEq)]
enum Shape {
    /// kubectl's line: what was done to what.
    Line,
    Name,
    Json,
    Yaml,
    JsonPath(JsonPath),
}

impl PrintFlags {
    /// The form asked for.
    ///
    /// # Errors
    /// None that exists, in kubectl's words; a template that can't be read.
    pub(super) fn form(&self) -> Result<Form, Failure> {
        Ok(Form {
            shape: self.shape()?,
            show_managed_fields: self.show_managed_fields,
            documents: 0,
        })
    }

    fn shape(&self) -> Result<Shape, Failure> {
        let wanted = self.output.as_deref().unwrap_or_default();
        let (format, argument) = match wanted.split_once('=') {
            Some((format, argument)) if format.starts_with("jsonpath") => (format, Some(argument)),
            _ => (wanted, None),
        };
        match format {
            "" => Ok(Shape::Line),
            "name" => Ok(Shape::Name),
            "json" => Ok(Shape::Json),
            // KYAML is YAML in a stricter dress, and so is JSON.
            "yaml" => Ok(Shape::Yaml),
            "jsonpath" | "jsonpath-as-json" | "jsonpath-file" => {
                self.json_path(format, argument).map(Shape::JsonPath)
            }
            "kyaml" => Err(not_here(wanted)),
            _ if wanted.starts_with("go-template") || wanted.starts_with("template") => {
                Err(not_here(wanted))
            }
            _ => Err(Failure::usage(format!(
                "unable to match a printer suitable for the output format \"{wanted}\", allowed formats are: {}",
                FORMATS.join(",")
            ))),
        }
    }

    fn json_path(&self, format: &str, argument: Option<&str>) -> Result<JsonPath, Failure> {
        let argument = argument.or(self.template.as_deref()).unwrap_or_default();
        if argument.is_empty() {
            return Err(Failure::usage(
                "template format specified but no template given",
            ));
        }
        let text = if format == "jsonpath-file" {
            fs::read_to_string(argument).map_err(|error| {
                Failure::error(format!("error reading --template {argument}, {error}"))
            })?
        } else {
            argument.to_owned()
        };
        let template = JsonPath::parse(&text)
            .map_err(|error| Failure::usage(format!("error parsing jsonpath {text}, {error}")))?;
        Ok(template
            .allow_missing_keys(self.allow_missing_template_keys)
            .as_json(format == "jsonpath-as-json"))
    }
}

fn not_here(format: &str) -> Failure {
    let format = format.split('=').next().unwrap_or_default();
    Failure::usage(format!("-o {format} is kubectl's alone"))
        .hint("-o jsonpath=TEMPLATE, -o json and -o yaml are here")
}

impl Form {
    /// Whether the objects themselves are wanted, not kubectl's line about them.
    pub(super) fn is_object(&self) -> bool {
        self.shape != Shape::Line
    }

    /// Prints one object, or says what was done to it: `deployment.apps/web paused`.
    ///
    /// # Errors
    /// When stdout can't be written; a template that the object does not fit.
    pub(super) fn print(
        &mut self,
        printer: &Printer,
        object: &Found,
        operation: &str,
    ) -> anyhow::Result<()> {
        let text = match &self.shape {
            Shape::Line => format!("{} {operation}\n", object.line_name()),
            Shape::Name => format!("{}\n", object.line_name()),
            Shape::Json => go_json::pretty(&self.shown(object)),
            Shape::Yaml => {
                let between = if self.documents == 0 { "" } else { "---\n" };
                format!("{between}{}", manifest::to_yaml(&self.shown(object)))
            }
            Shape::JsonPath(template) => template
                .evaluate(&self.shown(object))
                .map_err(|error| Failure::error(error.to_string()))?,
        };
        self.documents += 1;
        Ok(printer.document(&text)?)
    }

    fn shown(&self, object: &Found) -> Value {
        let mut json = object.json.clone();
        if !self.show_managed_fields
            && let Some(metadata) = json["metadata"].as_object_mut()
        {
            metadata.remove("managedFields");
        }
        json
    }
}
