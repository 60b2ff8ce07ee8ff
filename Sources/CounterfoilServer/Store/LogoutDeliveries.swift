public import CounterfoilProtocol
public import Foundation

/// That an application is to be told that a session has ended (OpenID Connect Back-Channel Logout §2.5).
public struct LogoutDelivery: Sendable, Hashable {
    /// How often it is tried before it is given up.
    public static let attemptLimit = 8

    /// Its number.
    public let number: Int
    /// Whom to tell.
    public let clientID: ClientIdentifier
    /// Whose session it was.
    public let personID: PersonIdentifier
    /// Which session, `sid`.
    public let sessionID: SessionIdentifier
    /// How often it was tried in vain.
    public let attempts: Int

    /// Makes a record.
    public init(
        number: Int, clientID: ClientIdentifier, personID: PersonIdentifier, sessionID: SessionIdentifier, attempts: Int
    ) {
        self.number = number
        self.clientID = clientID
        self.personID = personID
        self.sessionID = sessionID
        self.attempts = attempts
    }
}

/// What applications are still to be told.
///
/// The end of a session writes them in its own step, for each application that has a back-channel address and a grant of that
/// session (see ``SessionStore``).
public protocol LogoutDeliveryStore: Sendable {
    /// Takes deliveries that are due, at most so many, and puts each off until a moment, so that no other process takes it too.
    func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery]
    /// Removes a delivery: it has arrived, or is given up.
    func removeLogoutDelivery(_ number: Int) async throws(StoreFault)
    /// Counts a delivery that did not arrive, and puts it off until a moment.
    func postponeLogoutDelivery(_ number: Int, until later: Date) async throws(StoreFault)
}
