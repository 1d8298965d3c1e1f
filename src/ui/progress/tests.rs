//! Progress, live and in lines.

mod accounts;
mod drawn;
mod lines;
