//! Image references, shortened to what tells one revision from another.

/// Characters of a digest that tell images apart well enough for people.
const DIGEST_SHOWN: usize = 8;

/// The first image's last path component with its tag or the head of its digest, and how many more there are:
/// `web:1.27`, `web@3f2a91c0 +1`.
pub fn short(images: &[String]) -> String {
    match images {
        [] => String::new(),
        [image] => short_image(image),
        [image, more @ ..] => format!("{} +{}", short_image(image), more.len()),
    }
}

fn short_image(image: &str) -> String {
    let (name, digest) = image
        .split_once('@')
        .map_or((image, None), |(name, digest)| {
            let hex = digest.rsplit_once(':').map_or(digest, |(_, hex)| hex);
            (
                name,
                Some(hex.chars().take(DIGEST_SHOWN).collect::<String>()),
            )
        });
    let name = name.rsplit_once('/').map_or(name, |(_, last)| last);
    match digest {
        Some(digest) => format!("{name}@{digest}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_images_apart_is_kept() {
        let one = |image: &str| short(&[image.to_owned()]);
        assert_eq!(one("nginx"), "nginx");
        assert_eq!(one("registry.example.com:5000/shop/web:1.27"), "web:1.27");
        assert_eq!(one("registry.example.com:5000/web"), "web");
        assert_eq!(one("ghcr.io/a/web@sha256:3f2a91c0ffee"), "web@3f2a91c0");
        assert_eq!(one("web:1.27@sha256:3f2a91c0ffee"), "web:1.27@3f2a91c0");
        assert_eq!(short(&[]), "");
        assert_eq!(
            short(&["a/web:1".to_owned(), "b/proxy:2".to_owned()]),
            "web:1 +1"
        );
    }
}
