//! Progress, live and in lines.

mod drawn;
mod lines;
