public import CounterfoilProtocol
package import Foundation
public import HTTPTypes

/// An endpoint: its paths and the properties that decide how its requests are handled.
///
/// Two endpoints are equal if their names are equal.
public struct Endpoint: Sendable {
    /// The name in logs and metrics.
    public let name: String
    /// The path under the issuer; `{client_id}` and `{logo}` stand for one segment each.
    package let path: String
    /// The allowed methods; a request with any other method gets 405 with `Allow` and has no effect.
    public let methods: [HTTPRequest.Method]
    /// The maximum size of a request body in bytes.
    public let bodyLimit: Int
    /// Whether the response is a page for a user; otherwise it is for a program.
    public let answersPeople: Bool
    /// The scripts that may read the response.
    ///
    /// The authorization endpoint allows no scripts of other origins (OAuth 2.1 §3.1).
    var scriptAccess = ScriptAccess.none
    /// The users who may use the endpoint.
    package var audience = Audience.everyone
    /// Whether the user must have signed in recently, so that a stolen cookie is not enough.
    package var needsRecentSignIn = false
    /// The base of the path.
    var location = Location.issuer
    /// Whether it is a health check, which accepts any host name.
    var isHealth = false
    /// Whether it is also available at the callback origin, which has no sign-in.
    var isAtCallbackOrigin = false

    /// The scripts of other origins that may read a response.
    enum ScriptAccess: Sendable {
        /// No scripts.
        case none
        /// The scripts of the origins for which single-page clients are registered.
        case registered
        /// All scripts.
        case everyone
    }

    /// The users who may use an endpoint.
    package enum Audience: Sendable {
        case everyone
        case signedIn
        case administrators
    }

    /// The base of a path.
    enum Location: Sendable {
        /// Under the issuer.
        case issuer
        /// At the root of the host, whatever the path of the issuer.
        case host
        /// The issuer itself, with and without a slash, and the root of the host.
        case root
        /// The URLs of the metadata (RFC 8414 §3.1, OpenID Connect Discovery §4).
        case metadata
    }

    /// Whether a large body is read only for a signed-in user.
    public var bodyNeedsSession: Bool { audience != .everyone }

    /// Returns the paths at the origin of an issuer; most endpoints have one.
    public func paths(of issuer: Issuer) -> [String] {
        switch location {
        case .issuer: [issuer.path + path]
        case .host: [path]
        case .root: Set(["/", issuer.path, issuer.path + "/"].filter { !$0.isEmpty }).sorted()
        case .metadata: issuer.metadataURLs.map { String($0.dropFirst(issuer.origin.count)) }
        }
    }

    /// Returns the path under the issuer for a client, with its identifier in place of `{client_id}`.
    package func path(of client: ClientIdentifier) -> String { path.replacing("{client_id}", with: client.rawValue) }
}

extension Endpoint: Hashable, CustomStringConvertible {
    /// Compares the names.
    public static func == (one: Endpoint, other: Endpoint) -> Bool { one.name == other.name }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The name.
    public var description: String { name }
}

extension Endpoint {
    /// Creates an endpoint for small requests of clients, which may contain a token or an assertion.
    static func answering(
        _ name: String, _ path: String, _ methods: [HTTPRequest.Method] = [.post], scriptAccess: ScriptAccess = .none
    ) -> Endpoint {
        Endpoint(
            name: name, path: path, methods: methods, bodyLimit: 16 * 1024, answersPeople: false,
            scriptAccess: scriptAccess)
    }

    /// Creates an endpoint that programs read.
    static func reading(_ name: String, _ path: String, scriptAccess: ScriptAccess = .none) -> Endpoint {
        Endpoint(
            name: name, path: path, methods: [.get, .head], bodyLimit: 0, answersPeople: false,
            scriptAccess: scriptAccess)
    }

    /// Creates the endpoint of a page that does not accept a form.
    package static func page(_ name: String, _ path: String) -> Endpoint {
        Endpoint(name: name, path: path, methods: [.get], bodyLimit: 0, answersPeople: true)
    }

    /// Creates the endpoint of a page that also accepts its form.
    package static func form(_ name: String, _ path: String, bodyLimit: Int = 128 * 1024) -> Endpoint {
        Endpoint(name: name, path: path, methods: [.get, .post], bodyLimit: bodyLimit, answersPeople: true)
    }

    /// Creates an endpoint that accepts the form of another page.
    package static func posting(
        _ name: String, _ path: String, bodyLimit: Int = 32 * 1024, answersPeople: Bool = true
    ) -> Endpoint {
        Endpoint(name: name, path: path, methods: [.post], bodyLimit: bodyLimit, answersPeople: answersPeople)
    }

    /// Returns the endpoint with changed properties.
    package func with(_ change: (inout Endpoint) -> Void) -> Endpoint {
        var endpoint = self
        change(&endpoint)
        return endpoint
    }
}

/// An endpoint with the function that responds to its requests.
package struct EndpointHandler: Sendable {
    /// A function that responds to a request at the time `now`.
    package typealias Respond = @Sendable (_ request: IncomingRequest, _ now: Date) async throws -> Reply

    /// The endpoint.
    package let endpoint: Endpoint
    /// Responds to a request; the server turns every thrown error into a response.
    package let respond: Respond

    /// Registers a function at an endpoint.
    package init(_ endpoint: Endpoint, _ respond: @escaping Respond) {
        self.endpoint = endpoint
        self.respond = respond
    }
}
