//! Tables in kubectl's own layout, for output that must be the same as kubectl's.
//!
//! Its rule is that of elastic tab stops: a cell ends with a tab, and consecutive lines that have a cell in some column
//! agree on that column's width. What follows a line's last tab is not padded and widens nothing. So a line without
//! tabs, such as the second line of a change cause, ends the columns above it. Our own tables are comfy-table's.

use std::fmt::Write as _;

/// Lays out lines of cells that end with tabs. A column is as wide as its widest cell plus `padding`, counted in
/// characters, and at least `min_width`.
pub fn align(text: &str, min_width: usize, padding: usize) -> String {
    let mut lines: Vec<Line<'_>> = text.split('\n').map(Line::new).collect();
    set_widths(&mut lines, min_width, padding);
    let lines: Vec<String> = lines.iter().map(Line::layout).collect();
    lines.join("\n")
}

struct Line<'a> {
    cells: Vec<&'a str>,
    rest: &'a str,
    widths: Vec<usize>,
}

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Self {
        let (cells, rest) = text
            .rsplit_once('\t')
            .map_or((None, text), |(cells, rest)| (Some(cells), rest));
        Self {
            cells: cells
                .into_iter()
                .flat_map(|cells| cells.split('\t'))
                .collect(),
            rest,
            widths: Vec::new(),
        }
    }

    fn layout(&self) -> String {
        let mut text = String::new();
        for (cell, width) in self.cells.iter().zip(&self.widths) {
            // Writing to a string can't fail.
            let _ = write!(text, "{cell:width$}");
        }
        text + self.rest
    }
}

/// Goes from left to right: a block of lines that share a column is divided further by the next one.
fn set_widths(lines: &mut [Line<'_>], min_width: usize, padding: usize) {
    let mut blocks = vec![(lines, 0)];
    while let Some((lines, column)) = blocks.pop() {
        let has_cell = |line: &Line<'_>| column < line.cells.len();
        for block in lines.chunk_by_mut(|a, b| has_cell(a) == has_cell(b)) {
            if !has_cell(&block[0]) {
                continue;
            }
            let cells = block.iter().map(|line| line.cells[column]);
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            let width = min_width.max(widest + padding);
            for line in &mut *block {
                line.widths.push(width);
            }
            blocks.push((block, column + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fit_their_widest_cell() {
        let cases = [
            ("", ""),
            ("no tabs\nat all\n", "no tabs\nat all\n"),
            ("A\tB\n1\tx\n", "A  B\n1  x\n"),
            (
                "REVISION\tC\n12\t<none>\n1234567890\t\n",
                "REVISION    C\n12          <none>\n1234567890  \n",
            ),
            ("é\t|\nab\t|", "é   |\nab  |"),
            ("\tx\nab\ty", "    x\nab  y"),
        ];
        for (text, expected) in cases {
            assert_eq!(align(text, 0, 2), expected, "{text:?}");
        }
        assert_eq!(align("NAME\tAGE\na\t1s", 6, 3), "NAME   AGE\na      1s");
        assert_eq!(align("N\tAGE\na\t1s", 6, 3), "N     AGE\na     1s");
    }

    /// As kubectl prints a change cause of two lines, and one with a tab.
    #[test]
    fn a_line_with_fewer_cells_ends_a_column() {
        let text = "REVISION\tCHANGE-CAUSE\n1\tline one\nline two\n2\ttab\there\n";
        let expected = "REVISION  CHANGE-CAUSE\n1         line one\nline two\n2  tab  here\n";
        assert_eq!(align(text, 0, 2), expected);
    }
}
