//! Parts that many objects have in common, kept once.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

/// A part of an object that others may have, too: cheap to clone, and copied by whoever changes it.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Shared<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Eq> Shared<T> {
    /// Becomes one with `other` where both are equal, instead of being kept twice.
    pub fn share_with(&mut self, other: &Self) {
        if self == other {
            self.clone_from(other);
        }
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl From<&str> for Shared<String> {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&Shared<String>> for String {
    fn from(text: &Shared<String>) -> Self {
        text.to_string()
    }
}

impl PartialEq<str> for Shared<String> {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<String> for Shared<String> {
    fn eq(&self, other: &String) -> bool {
        **self == *other
    }
}

impl<T: FromIterator<I>, I> FromIterator<I> for Shared<T> {
    fn from_iter<S: IntoIterator<Item = I>>(items: S) -> Self {
        T::from_iter(items).into()
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_is_kept_once_until_one_changes() {
        let mut one: Shared<Vec<i32>> = vec![1, 2].into();
        let mut other: Shared<Vec<i32>> = vec![1, 2].into();
        assert!(!Arc::ptr_eq(&one.0, &other.0));
        other.share_with(&one);
        assert!(Arc::ptr_eq(&one.0, &other.0));
        one.push(3);
        assert_eq!((&*one, &*other), (&vec![1, 2, 3], &vec![1, 2]));
        other.share_with(&one);
        assert_eq!(*other, [1, 2]);
    }
}
