@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// A sign-in for which the browser is at the page of another issuer.
///
/// The server stores nothing about it. The browser has it in an encrypted cookie of its own, so that several tabs do
/// not disturb each other.
struct PendingExternalSignIn: Sendable, Hashable {
    /// The tolerated difference between the clocks of the page and the server, in seconds.
    private static let clockSkew: TimeInterval = 60

    /// The identifier of the request to the page, 16 random bytes in base64url.
    let id: String
    /// The part of the server at which the user continues.
    let door: SignInDoor
    /// The request with which the user continues.
    let request: String
    /// The client for which the user signs in; nil for none.
    let client: ClientIdentifier?
    /// The time of the request to the page.
    let startedAt: Date
    /// The maximum age of the sign-in in seconds; 0 demands a sign-in after ``startedAt``.
    let maxAge: Int?

    private struct Content: Codable {
        let door: String
        let request: String
        let client: String?
        let startedAt: Double
        let maxAge: Int?
    }

    init(id: String, door: SignInDoor, request: String, client: ClientIdentifier?, startedAt: Date, maxAge: Int?) {
        self.id = id
        self.door = door
        self.request = request
        self.client = client
        self.startedAt = startedAt
        self.maxAge = maxAge
    }

    /// Decrypts the value of the cookie of a request; nil if it is of another request, or too old.
    init?(cookie: String, of id: String, keys: DerivedKeys, lifetime: Int, now: Date) {
        guard cookie.utf8.count <= 8192, let sealed = Base64URL.decode(cookie),
            let bytes = try? keys.open(sealed, authenticating: Array(id.utf8)).bytes,
            let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            let door = SignInDoor(rawValue: content.door),
            now.isWithin(TimeInterval(lifetime), after: content.startedAt)
        else { return nil }
        self.init(
            id: id, door: door, request: content.request, client: content.client.flatMap { ClientIdentifier($0) },
            startedAt: Date(timeIntervalSince1970: content.startedAt), maxAge: content.maxAge)
    }

    /// Returns the value of the cookie.
    func cookie(keys: DerivedKeys) throws -> String {
        let content = Content(
            door: door.rawValue, request: request, client: client?.rawValue,
            startedAt: startedAt.timeIntervalSince1970, maxAge: maxAge)
        return Base64URL.encode(
            try keys.seal(Array(try JSONEncoder().encode(content)), authenticating: Array(id.utf8)))
    }

    /// Returns the age of a sign-in in seconds, at most ``maxAge``; nil if it is too long ago.
    func age(of authenticatedAt: Date, now: Date) -> TimeInterval? {
        let age = max(0, now.timeIntervalSince(authenticatedAt))
        guard let maxAge else { return age }
        let limit = maxAge == 0 ? now.timeIntervalSince(startedAt) : TimeInterval(maxAge)
        return age <= limit + Self.clockSkew ? min(age, max(0, limit)) : nil
    }
}
