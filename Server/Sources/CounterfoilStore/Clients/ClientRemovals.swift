/// The deletion of a client.
///
/// The commit that deletes a client deletes its registration, so the client is gone for every method, and no code,
/// token or device authorization of it can be used. The number of its other records has no limit:
/// ``UserStore/continueRemovals(atMost:)`` deletes those that the commit left. Until then, no client can have the
/// identifier.
public enum ClientRemoval {
    /// The maximum number of records that the commit of a deletion deletes itself.
    ///
    /// The records are grants with their codes and token family, consents, device authorizations, pushed requests and
    /// queued logout notifications. Most clients have fewer, so nothing of them is left after the commit. A commit that
    /// deletes several clients deletes no more records than that of one.
    public static let rowsAtOnce = 100
}
