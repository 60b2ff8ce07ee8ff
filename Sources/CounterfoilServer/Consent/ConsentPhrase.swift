/// The texts of the consent page.
public enum ConsentPhrase: String, LocalizationKey {
    /// The duration of the access; place `duration`.
    case lifetime = "consent.lifetime"
    /// The duration with a refresh token; places `application`, `idle` and `duration`.
    case lifetimeRefreshed = "consent.lifetime-refreshed"
    /// The user allowed all of it before; place `date`.
    case allowedBefore = "consent.allowed-before"
    /// The user allowed some of it before; place `date`.
    case allowedLessBefore = "consent.allowed-less-before"
    /// The client has changed since the user allowed it; place `date`.
    case changedSince = "consent.changed-since"
}
