//! Ids, digests and jitter that a simulation needs: pseudo-random, but the same for the same input.

use std::fmt::Write as _;

use k8s_openapi::jiff::SignedDuration;

/// A number that depends on all of the texts.
pub(super) fn hash(texts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        // The end of a text counts too, so that ("ab", "c") and ("a", "bc") differ.
        for byte in text.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    mix(hash)
}

fn mix(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn hex(mut seed: u64) -> String {
    let mut text = String::with_capacity(64);
    for _ in 0..4 {
        seed = mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        write!(text, "{seed:016x}").expect("writing to a String cannot fail");
    }
    text
}

/// `repository@sha256:…`
pub(super) fn image_id(image: &str) -> String {
    if image.contains("@sha256:") {
        return image.to_owned();
    }
    let (name, tag) = super::rules::split_tag(image);
    format!("{name}@sha256:{}", hex(hash(&[name, tag])))
}

/// The image's size, in bytes.
pub(super) fn image_size(image: &str) -> u64 {
    20_000_000 + hash(&["size", image]) % 180_000_000
}

/// The id of one run of a container.
pub(super) fn container_id(pod_uid: &str, container: &str, run: u32) -> String {
    let seed = hash(&[pod_uid, container]).wrapping_add(u64::from(run));
    format!("containerd://{}", hex(seed))
}

/// A time between `from` and `to`, in milliseconds, that depends on what it is for.
pub(super) fn jitter(what: &str, uid: &str, from: i64, to: i64) -> SignedDuration {
    let span = u64::try_from(to - from).unwrap_or_default().max(1);
    let extra = i64::try_from(hash(&[what, uid]) % span).unwrap_or_default();
    SignedDuration::from_millis(from + extra)
}
