//! The questions that `--step` and `--confirm` ask.
//!
//! Reads whole lines from any input, so it is tested without a terminal; the caller keeps it off the async runtime's
//! threads.

use std::io::{self, BufRead};

use super::line::{Line, Tone};
use super::printer::Printer;
use super::step::{Naming, Revisions, Words};
use crate::controller::action::Step;

/// What the user wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This step, and ask again before the next.
    Yes,
    /// Nothing more.
    Stop,
    /// This and all later steps.
    All,
}

/// Shows the `steps` for `object` that would be sent together and asks whether to. The end of the input stops.
///
/// # Errors
/// When `input` can't be read.
pub fn ask(
    printer: &Printer,
    object: &str,
    steps: &[&Step],
    revisions: &Revisions,
    input: &mut impl BufRead,
) -> io::Result<Answer> {
    let mut lines = vec![Line::new(Tone::Strong, object)];
    lines.extend(listed(steps, revisions));
    let question = Line::new(Tone::Strong, "Apply? [y]es, [n]o/stop, [a]ll: ");
    loop {
        printer.question(&lines, &question);
        let mut answer = String::new();
        if input.read_line(&mut answer)? == 0 {
            printer.question(&[Line::default()], &Line::default());
            return Ok(Answer::Stop);
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Answer::Yes),
            "n" | "no" | "s" | "stop" => return Ok(Answer::Stop),
            "a" | "all" => return Ok(Answer::All),
            _ => lines = vec![Line::from("Please answer y, n or a.")],
        }
    }
}

/// A line a step; those that read the same, as pods that are created do, are one.
fn listed(steps: &[&Step], revisions: &Revisions) -> Vec<Line> {
    // What the steps create or number anew is called by its number in all of them.
    let mut revisions = revisions.clone();
    for step in steps {
        revisions.learn_step(&step.action);
    }
    let texts = steps.iter().map(|step| {
        let words = Words::new(&step.action, &revisions, Naming::Full).to_do();
        (words, step.why.to_string())
    });
    let mut lines: Vec<((String, String), usize)> = Vec::new();
    for text in texts {
        match lines.last_mut() {
            Some((last, times)) if *last == text => *times += 1,
            _ => lines.push((text, 1)),
        }
    }
    let line = |((words, why), times)| {
        let times = match times {
            1 => String::new(),
            times => format!(" ({times} times)"),
        };
        Line::new(Tone::Plain, format!("  {words}{times}")).with(Tone::Faint, format!(": {why}"))
    };
    lines.into_iter().map(line).collect()
}

/// Asks a question that is answered with yes or no. The end of the input means no.
///
/// # Errors
/// When `input` can't be read.
pub fn confirm(printer: &Printer, question: &str, input: &mut impl BufRead) -> io::Result<bool> {
    let question = Line::new(Tone::Strong, question);
    let mut before: &[Line] = &[];
    let again = [Line::from("Please answer y or n.")];
    loop {
        printer.question(before, &question);
        let mut answer = String::new();
        if input.read_line(&mut answer)? == 0 {
            printer.question(&[Line::default()], &Line::default());
            return Ok(false);
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => before = &again,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::printer::Level;
    use super::super::printer::capture::captured;
    use super::super::scene;
    use super::*;

    fn answer(input: &str) -> (Answer, String) {
        let (printer, capture) = captured(Level::Quiet);
        let mut revisions = Revisions::default();
        let step = scene::scale(scene::OLD, 5, 4);
        revisions.learn(&scene::rolling());
        let answer = ask(
            &printer,
            "deployment/web",
            &[&step],
            &revisions,
            &mut input.as_bytes(),
        )
        .expect("readable");
        (answer, capture.err())
    }

    #[test]
    fn answers_are_read_leniently_but_never_guessed() {
        for (input, expected) in [
            ("y\n", Answer::Yes),
            (" YES \r\n", Answer::Yes),
            ("n\n", Answer::Stop),
            ("stop\n", Answer::Stop),
            ("a\n", Answer::All),
            ("", Answer::Stop),
            ("\n\nmaybe\ny", Answer::Yes),
        ] {
            assert_eq!(answer(input).0, expected, "{input:?}");
        }
    }

    #[test]
    fn new_revisions_are_named_and_like_steps_are_told_once() {
        let (printer, capture) = captured(Level::Quiet);
        let steps = [
            scene::create(1),
            scene::create_pod(scene::NEW),
            scene::create_pod(scene::NEW),
        ];
        let steps: Vec<&Step> = steps.iter().collect();
        let revisions = Revisions::default();
        ask(
            &printer,
            "deployment/web",
            &steps,
            &revisions,
            &mut "y\n".as_bytes(),
        )
        .expect("readable");
        insta::assert_snapshot!(capture.err(), @"
        deployment/web
          create web-7f9c (revision 2) with 1 pod: new template: at most 6 pods in total
          create pod for web-7f9c (revision 2) (2 times): 0 of 2 pods
        Apply? [y]es, [n]o/stop, [a]ll:
        ");
    }

    #[test]
    fn the_question_shows_what_and_why_even_when_quiet() {
        insta::assert_snapshot!(answer("what\nall\n").1, @"
        deployment/web
          scale down web-6d4b (revision 1) 5→4: availability room 1: available 5, at least 4 must stay
        Apply? [y]es, [n]o/stop, [a]ll: Please answer y, n or a.
        Apply? [y]es, [n]o/stop, [a]ll:
        ");
    }
}
