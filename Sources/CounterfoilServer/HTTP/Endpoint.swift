public import CounterfoilProtocol
package import Foundation
public import HTTPTypes

/// An endpoint: where it lies, and what distinguishes it for everything that carries requests to it.
///
/// Two endpoints are equal if their names are.
public struct Endpoint: Sendable {
    /// The name in logs and metrics.
    public let name: String
    /// The path under the issuer, in which `{client_id}` and `{logo}` stand for one segment.
    package let path: String
    /// The methods that it answers; any other gets 405 with `Allow` and has no effect.
    public let methods: [HTTPRequest.Method]
    /// The most bytes of a body.
    public let bodyLimit: Int
    /// Whether a person reads the answer; otherwise a program does.
    public let answersPeople: Bool
    /// The scripts that may read the answer; never those of strangers at the authorization endpoint (OAuth 2.1 §3.1).
    var scriptAccess = ScriptAccess.none
    /// The users that the endpoint answers.
    package var audience = Audience.everyone
    /// Whether the session of the user must be recent, so that a stolen cookie is not enough.
    package var needsRecentSignIn = false
    /// The place of the path.
    var location = Location.issuer
    /// Whether it answers health checks, which may name any host.
    var isHealth = false
    /// Whether it answers at an origin for callback URLs, which has no sign-in.
    var isAtCallbackOrigin = false

    /// The scripts of other origins that may read an answer.
    enum ScriptAccess: Sendable {
        /// None.
        case none
        /// Those of the origins that single-page clients are registered for.
        case registered
        /// All.
        case everyone
    }

    /// The users that an endpoint answers.
    package enum Audience: Sendable {
        case everyone
        case signedIn
        case administrators
    }

    /// The place of a path.
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

    /// Whether a large body is read for a signed-in user only.
    public var bodyNeedsSession: Bool { audience != .everyone }

    /// The paths at the origin of an issuer; most endpoints have one.
    public func paths(of issuer: Issuer) -> [String] {
        switch location {
        case .issuer: [issuer.path + path]
        case .host: [path]
        case .root: Set(["/", issuer.path, issuer.path + "/"].filter { !$0.isEmpty }).sorted()
        case .metadata: issuer.metadataURLs.map { String($0.dropFirst(issuer.origin.count)) }
        }
    }

    /// The path under the issuer of an endpoint that names a client.
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
    /// An endpoint to which clients send a few parameters, a token or an assertion among them.
    static func answering(
        _ name: String, _ path: String, _ methods: [HTTPRequest.Method] = [.post], scriptAccess: ScriptAccess = .none
    ) -> Endpoint {
        Endpoint(
            name: name, path: path, methods: methods, bodyLimit: 16 * 1024, answersPeople: false,
            scriptAccess: scriptAccess)
    }

    /// An endpoint that programs read.
    static func reading(_ name: String, _ path: String, scriptAccess: ScriptAccess = .none) -> Endpoint {
        Endpoint(
            name: name, path: path, methods: [.get, .head], bodyLimit: 0, answersPeople: false,
            scriptAccess: scriptAccess)
    }

    /// A page without a form of its own.
    package static func page(_ name: String, _ path: String) -> Endpoint {
        Endpoint(name: name, path: path, methods: [.get], bodyLimit: 0, answersPeople: true)
    }

    /// A page with a form that it takes itself.
    package static func form(_ name: String, _ path: String, bodyLimit: Int = 128 * 1024) -> Endpoint {
        Endpoint(name: name, path: path, methods: [.get, .post], bodyLimit: bodyLimit, answersPeople: true)
    }

    /// An endpoint to which the form of another page is posted.
    package static func posting(
        _ name: String, _ path: String, bodyLimit: Int = 32 * 1024, answersPeople: Bool = true
    ) -> Endpoint {
        Endpoint(name: name, path: path, methods: [.post], bodyLimit: bodyLimit, answersPeople: answersPeople)
    }

    /// The endpoint with other properties.
    package func with(_ change: (inout Endpoint) -> Void) -> Endpoint {
        var endpoint = self
        change(&endpoint)
        return endpoint
    }
}

/// An endpoint with the function that answers its requests.
package struct EndpointHandler: Sendable {
    /// Answers a request at a time.
    package typealias Respond = @Sendable (_ request: IncomingRequest, _ now: Date) async throws -> Reply

    /// The endpoint.
    package let endpoint: Endpoint
    /// Answers a request; every error that it throws becomes an answer.
    package let respond: Respond

    /// Registers a function at an endpoint.
    package init(_ endpoint: Endpoint, _ respond: @escaping Respond) {
        self.endpoint = endpoint
        self.respond = respond
    }
}
