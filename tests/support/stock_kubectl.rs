//! Stock kubectl, for tests that compare with it or work through it.

use std::process::Command;

/// Whether there is one. With `REQUIRE_KUBECTL` set, as in CI, there must be.
pub(crate) fn is_there() -> bool {
    let is_there = Command::new("kubectl")
        .args(["version", "--client"])
        .output()
        .is_ok();
    assert!(
        is_there || std::env::var_os("REQUIRE_KUBECTL").is_none(),
        "kubectl is required"
    );
    is_there
}
