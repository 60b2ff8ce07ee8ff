/// What the consent page says.
public enum ConsentPhrase: String, Phrase {
    /// How long the access lasts; place `duration`.
    case lifetime = "consent.lifetime"
    /// How long it lasts with a refresh token; places `application`, `idle` and `duration`.
    case lifetimeRefreshed = "consent.lifetime-refreshed"
    /// That the person allowed all of it before; place `date`.
    case allowedBefore = "consent.allowed-before"
    /// That the person allowed some of it before; place `date`.
    case allowedLessBefore = "consent.allowed-less-before"
    /// That the application is not what it was when the person allowed it; place `date`.
    case changedSince = "consent.changed-since"
}
