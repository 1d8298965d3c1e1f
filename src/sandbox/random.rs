//! Everything random in the cluster, from one seed: UIDs, generated name suffixes, continue tokens.
//!
//! Each kind of object draws from a stream of its own, so that one more config map doesn't rename every pod after it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The letters that `generateName` draws from: no vowels, nothing that looks like another letter.
const SUFFIX_LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;

/// Streams of pseudo-random numbers (splitmix64), one per name.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    seed: u64,
    streams: BTreeMap<&'static str, u64>,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            streams: BTreeMap::new(),
        }
    }

    /// The next number of a stream.
    pub(crate) fn next(&mut self, stream: &'static str) -> u64 {
        let seed = self.seed;
        let state = self
            .streams
            .entry(stream)
            .or_insert_with(|| seed ^ fnv1a(stream));
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A version 4 UUID.
    pub(crate) fn uid(&mut self, stream: &'static str) -> String {
        let high = self.next(stream) & !0xf000 | 0x4000;
        let low = self.next(stream) & !(0b11 << 62) | (0b10 << 62);
        let mut text = String::with_capacity(36);
        write!(
            text,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
        .expect("writing to a String cannot fail");
        text
    }

    /// The five letters behind a `generateName`.
    pub(crate) fn suffix(&mut self, stream: &'static str) -> String {
        let mut bits = self.next(stream);
        (0..SUFFIX_LENGTH)
            .map(|_| {
                let count = SUFFIX_LETTERS.len() as u64;
                let letter = usize::try_from(bits % count).expect("an index below 27 fits");
                bits /= count;
                char::from(SUFFIX_LETTERS[letter])
            })
            .collect()
    }
}

fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_do_not_disturb_one_another() {
        let mut quiet = Random::new(7);
        let mut busy = Random::new(7);
        for _ in 0..10 {
            busy.uid("configmaps");
        }
        assert_eq!(quiet.uid("pods"), busy.uid("pods"));
        assert_ne!(quiet.uid("pods"), quiet.uid("pods"));
        assert_ne!(Random::new(8).uid("pods"), Random::new(7).uid("pods"));
    }

    #[test]
    fn uids_are_version_4() {
        let mut random = Random::new(1);
        for _ in 0..1000 {
            let uid = random.uid("pods");
            assert_eq!(uid.len(), 36);
            assert_eq!(uid.as_bytes()[14], b'4');
            assert!(b"89ab".contains(&uid.as_bytes()[19]));
        }
        assert!(
            random
                .suffix("pods")
                .bytes()
                .all(|letter| SUFFIX_LETTERS.contains(&letter))
        );
    }
}
