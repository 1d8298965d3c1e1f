//! What happens while a command runs.

use crate::recording::Event;
use crate::world::World;

/// Makes it happen.
pub(crate) async fn happen(world: &World, event: &Event) {
    let path = |key: &String| world.objects[key].clone();
    if let Some((key, status)) = &event.status {
        world.set_status(&path(key), status.clone()).await;
    }
    if let Some((key, patch)) = &event.merge {
        world.merge(&path(key), patch).await;
    }
    if let Some((key, operations)) = &event.jsonpatch {
        world
            .send(
                "PATCH",
                &path(key),
                "application/json-patch+json",
                operations,
            )
            .await;
    }
    if let Some(key) = &event.delete {
        world
            .send(
                "DELETE",
                &path(key),
                "application/json",
                &serde_json::json!({}),
            )
            .await;
    }
}
