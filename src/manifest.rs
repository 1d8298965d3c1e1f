//! Manifests: YAML and JSON, files and streams, to objects and back.
