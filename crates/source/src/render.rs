//! Rendering of problems: title, excerpt with labels, hints, as `rustc` does.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Renderer, Snippet, normalize_untrusted_str,
};

use crate::messages::failed;
use crate::{Failure, FileId, Fix, Hint, Label, Problem, Severity, Sources, Span, counted};

/// Limit on the displayed errors, and on the displayed warnings; the others are only counted.
const SHOWN: usize = 100;

/// Limit on the displayed lines of a fix; an ellipsis follows them.
const EDITED: usize = 6;

/// All problems as text, in the order of files and places, each once. Problems without a place come
/// last. `color` adds terminal colors. The text ends in a line break unless there are no problems.
pub fn render(sources: &Sources, problems: &[Problem], color: bool) -> String {
    let ordered = in_order(problems);
    let mut blocks: Vec<String> = Vec::new();
    for (severity, word) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
        let all = ordered.iter().filter(|problem| problem.severity == severity).count();
        if all > SHOWN {
            let more = counted(all - SHOWN, &format!("more {word}"));
            blocks.push(format!("{word}: {more} not shown here\n"));
        }
    }
    let mut shown = [0; 2];
    let few = |problem: &&Problem| {
        let count = &mut shown[usize::from(problem.severity == Severity::Warning)];
        *count += 1;
        *count <= SHOWN
    };
    let first = ordered.into_iter().filter(few).map(|problem| render_one(sources, problem, color));
    let first: Vec<String> = first.collect();
    blocks.splice(0..0, first);
    blocks.join("\n")
}

/// A run-time failure, rendered like a problem.
pub fn render_failure(sources: &Sources, failure: &Failure, color: bool) -> String {
    render_one(sources, &failed(failure), color)
}

/// Sorted by place, then by code and title; duplicates are dropped.
fn in_order(problems: &[Problem]) -> Vec<&Problem> {
    let mut sorted: Vec<&Problem> = problems.iter().collect();
    sorted.sort_by_key(|problem| key(problem));
    sorted.dedup_by_key(|problem| key(problem));
    sorted
}

/// Sort key of a problem.
fn key(problem: &Problem) -> (bool, Option<Span>, &'static str, &str) {
    let place = problem.labels.first().map(|label| label.span);
    (place.is_none(), place, problem.code, &problem.title)
}

fn render_one(sources: &Sources, problem: &Problem, color: bool) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(problem.title.as_str()).id(problem.code));
    for file in files(&problem.labels) {
        group = group.element(excerpt(sources, file, &problem.labels));
    }
    for hint in &problem.hints {
        let text = with_edited_lines(sources, hint);
        group = group.element(Level::HELP.message(normalize_untrusted_str(&text)));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let text = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

/// The sentence of a hint and, unless it quotes the new text, the lines that its fix changes.
fn with_edited_lines(sources: &Sources, hint: &Hint) -> String {
    let fix = hint.fix.as_ref().filter(|fix| !fix.is_quoted_by(&hint.text));
    let lines = fix.and_then(|fix| edited_lines(sources, fix));
    lines.map_or_else(|| hint.text.clone(), |lines| format!("{}:\n{lines}", hint.text))
}

/// The lines of a text that a fix changes, as they are after it.
fn edited_lines(sources: &Sources, fix: &Fix) -> Option<String> {
    let file = fix.edits.first()?.span.file;
    let source = sources.get(file);
    let new = fix.apply(file, &source.text)?;
    let (old, new): (Vec<&str>, Vec<&str>) = (source.text.lines().collect(), new.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let before = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(most).take_while(same).count();
    let changed = &new[before..new.len() - after];
    let shown = changed.iter().take(EDITED).map(|line| line.trim_end());
    let more = (changed.len() > EDITED).then_some("…");
    let lines: Vec<&str> = shown.chain(more).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The files of the labels, the primary label's first.
fn files(labels: &[Label]) -> Vec<FileId> {
    let mut files = Vec::new();
    for label in labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
}

/// The lines of a file around its labels.
fn excerpt<'a>(
    sources: &'a Sources,
    file: FileId,
    labels: &'a [Label],
) -> Snippet<'a, Annotation<'a>> {
    let source = sources.get(file);
    let hidden = source.shown_from;
    let text = &source.text[hidden..];
    let spans: Vec<(usize, usize)> =
        labels.iter().map(|label| clamp(text, hidden, label.span)).collect();
    let here = |k: &usize| labels[*k].span.file == file;
    let first = (0..labels.len()).filter(here).map(|k| spans[k].0).min().unwrap_or(0);
    let last = (0..labels.len()).filter(here).map(|k| spans[k].1).max().unwrap_or(0);
    let start = text[..first].rfind('\n').map_or(0, |k| k + 1);
    let end = text[last..].find('\n').map_or(text.len(), |k| last + k);
    let line = text[..start].matches('\n').count() + 1;
    let mut snippet =
        Snippet::source(&text[start..end]).path(source.name.as_str()).line_start(line);
    for k in (0..labels.len()).filter(here) {
        let kind = if k == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation = kind.span(spans[k].0 - start..spans[k].1 - start);
        let said = &labels[k].text;
        snippet = snippet.annotation(if said.is_empty() {
            annotation
        } else {
            annotation.label(said.as_str())
        });
    }
    snippet
}

/// The span within the displayed text, which starts after `hidden` bytes; clamped, and moved to
/// character boundaries.
fn clamp(text: &str, hidden: usize, span: Span) -> (usize, usize) {
    let at = |place: u32| floor(text, (place as usize).saturating_sub(hidden));
    let start = at(span.start);
    (start, at(span.end).max(start))
}

fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> (Sources, FileId) {
        let mut sources = Sources::new();
        let file = sources.add("a.lam", "def f x =\n  x + yy\n\tdef π = 3\n");
        (sources, file)
    }

    fn check(problems: &[Problem], expect: &str) {
        assert_eq!(render(&sources().0, problems, false), expect);
    }

    #[test]
    fn excerpt_with_labels_and_hints() {
        let file = sources().1;
        let problem =
            Problem::error("E0101", "unknown name `yy`", Span::new(file, 16, 18), "not defined")
                .label(Span::new(file, 6, 7), "did you mean this parameter?")
                .hint("write `x`");
        check(
            &[problem],
            "error[E0101]: unknown name `yy`
 --> a.lam:2:7
  |
1 | def f x =
  |       - did you mean this parameter?
2 |   x + yy
  |       ^^ not defined
  |
  = help: write `x`
",
        );
    }

    #[test]
    fn edited_lines_unless_they_are_quoted() {
        let file = sources().1;
        let span = Span::new(file, 16, 18);
        let problem = Problem::error("E0101", "unknown name `yy`", span, "not defined")
            .fix("did you mean `x`?", Fix::replace(span, "x"))
            .fix("put parentheses around it", Fix::parentheses(span));
        check(
            &[problem],
            "error[E0101]: unknown name `yy`
 --> a.lam:2:7
  |
2 |   x + yy
  |       ^^ not defined
  |
  = help: did you mean `x`?
  = help: put parentheses around it:
            x + (yy)
",
        );
    }

    #[test]
    fn sorted_and_told_once() {
        let file = sources().1;
        let late = Problem::error("E0002", "late", Span::new(file, 16, 18), "");
        let early = Problem::error("E0001", "early", Span::new(file, 4, 5), "");
        let general = Problem::general("E0600", "no such file");
        let text = render(&sources().0, &[general, late.clone(), early, late], false);
        let titles: Vec<&str> = text.lines().filter(|line| line.starts_with("error")).collect();
        assert_eq!(
            titles,
            ["error[E0001]: early", "error[E0002]: late", "error[E0600]: no such file"]
        );
    }

    #[test]
    fn wild_spans_do_not_panic() {
        let file = sources().1;
        for (start, end) in [(0, 0), (24, 25), (25, 26), (31, 31), (31, 400), (400, 3), (5, 2)] {
            render(
                &sources().0,
                &[Problem::error("E0001", "t", Span::new(file, start, end), "here")],
                true,
            );
        }
        let mut empty = Sources::new();
        let file = empty.add("e", "");
        assert!(
            render(&empty, &[Problem::error("E0001", "t", Span::new(file, 0, 0), "here")], false)
                .contains("e:1:1")
        );
    }

    #[test]
    fn failures() {
        let (sources, file) = sources();
        let failure = Failure {
            span: Span::new(file, 12, 18),
            message: "index 3 is out of range for size 3".into(),
        };
        let text = render_failure(&sources, &failure, false);
        assert!(text.starts_with("error[E0700]: run-time error\n --> a.lam:2:3\n"), "{text}");
        assert!(text.contains("^^^^^^ index 3 is out of range for size 3"), "{text}");
        let nowhere = Failure { span: Span::default(), message: "division by zero".into() };
        assert_eq!(
            render_failure(&sources, &nowhere, false),
            "error[E0700]: run-time error: division by zero\n"
        );
    }
}
