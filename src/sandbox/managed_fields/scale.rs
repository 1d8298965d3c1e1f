//! The managers of `spec.replicas`, seen through the scale subresource: who manages it in the object manages it in
//! the Scale, and the other way round.

use super::managers::{Entry, ManagerId, Managers};
use super::set::FieldSet;

/// Where both a Scale and the objects that scale keep their number of replicas.
const REPLICAS: [&str; 2] = ["spec", "replicas"];
const SCALE_VERSION: &str = "autoscaling/v1";

/// The managers of a Scale, made from those of the object that it is the scale of.
pub fn to_scale(parent: &Managers) -> Managers {
    let mut scale = Managers::default();
    for (id, entry) in parent.iter() {
        if entry.fields.has_path(&REPLICAS) {
            let entry = Entry {
                api_version: SCALE_VERSION.to_owned(),
                fields: FieldSet::of_path(&REPLICAS),
                time: entry.time,
            };
            scale.set(in_version(id, SCALE_VERSION), entry);
        }
    }
    scale
}

/// The managers of an object after its Scale was written: who lost the replicas there loses them here, and who took
/// them there has them here, without a time.
pub fn to_parent(parent: &Managers, scale: &Managers, parent_version: &str) -> Managers {
    let mut written = Managers::default();
    for (id, entry) in parent.iter() {
        let mut entry = entry.clone();
        if scale.get(&in_version(id, SCALE_VERSION)).is_none() {
            entry.fields.subtract(&FieldSet::of_path(&REPLICAS));
        }
        written.set(id.clone(), entry);
    }
    for (id, entry) in scale.iter() {
        let id = in_version(id, parent_version);
        if entry.fields.has_path(&REPLICAS) && written.get(&id).is_none() {
            let entry = Entry {
                api_version: parent_version.to_owned(),
                fields: FieldSet::of_path(&REPLICAS),
                time: None,
            };
            written.set(id, entry);
        }
    }
    written
}

/// The same manager, writing in another version.
fn in_version(id: &ManagerId, api_version: &str) -> ManagerId {
    ManagerId::new(&id.manager, id.operation, api_version, &id.subresource)
}
