public import CounterfoilProtocol
package import CounterfoilStore
package import Foundation
public import HTTPTypes

/// An endpoint: its paths and the properties that decide how its requests are handled.
///
/// Two endpoints are equal if their names are equal.
public struct Endpoint: Sendable {
    /// The name of the endpoint in logs and metrics.
    public let name: String
    /// The path relative to ``location``; `{client_id}`, `{user_id}`, `{logo}` and other names in braces stand for one
    /// segment each.
    package let path: String
    /// The allowed methods; a request with any other method gets status 405 with `Allow` and has no effect.
    public let methods: [HTTPRequest.Method]
    /// The maximum size of a request body in bytes; a request with a larger body gets status 413.
    public let bodyLimit: Int
    /// Whether the endpoint is for users, who get errors as pages; if false, it is for programs, which get JSON.
    public let answersUsers: Bool
    /// The scripts of other origins that may read the response.
    ///
    /// The authorization endpoint must not allow any (OAuth 2.1 §3.1).
    var scriptAccess = ScriptAccess.none
    package var audience = Audience.everyone
    /// Whether the user must have signed in recently, so that a stolen session cookie does not suffice.
    package var needsRecentSignIn = false
    /// The URL to which ``path`` is relative.
    var location = Location.issuer
    /// Whether the app that opened the window of a request keeps its reference to the window.
    package var keepsOpener = false
    /// Whether the endpoint belongs to the administration API: its errors are problem details (RFC 9457), and a DPoP
    /// proof names the path of the request.
    var isOfAdministrationAPI = false
    /// Whether the endpoint is one of SCIM: its JSON has the content type of SCIM, and its errors the form of RFC
    /// 7644 §3.12.
    var speaksSCIM = false
    /// Whether the endpoint is a health check, which accepts requests with any host name.
    var isHealth = false
    /// Whether the endpoint is also available at the callback origin, where no user signs in.
    var isAtCallbackOrigin = false

    /// The scripts of other origins that may read the responses of an endpoint.
    enum ScriptAccess: Sendable {
        /// No scripts of other origins.
        case none
        /// The scripts of those origins that are registered for the client of the request (``CrossOrigin``).
        case registered
        /// The scripts of all origins.
        case everyone
    }

    /// The users whom an endpoint answers.
    package enum Audience: Sendable, Hashable {
        case everyone
        case signedIn
        /// Users whose role has a right of the administration, by the method of the request.
        ///
        /// A right is nil if each of them suffices.
        case administration(reading: AdministrationRight?, changing: AdministrationRight?)

        /// The verdict on a request of a user.
        package enum Admission: Sendable, Hashable {
            case admitted
            /// The user may not know what is there.
            case hidden
            /// The user has rights of the administration, but not this one, which the change needs.
            case refused(AdministrationRight)
        }

        /// Judges a request of a user by the role that the user has now.
        ///
        /// - Parameter isChange: Whether the request submits a form.
        package func admission(of user: User, changing isChange: Bool) -> Admission {
            guard case .administration(let reading, let changing) = self else { return .admitted }
            guard user.hasRights else { return .hidden }
            guard let right = isChange ? changing : reading, !user.may(right) else { return .admitted }
            return isChange ? .refused(right) : .hidden
        }
    }

    /// The URL to which the path of an endpoint is relative.
    enum Location: Sendable {
        /// The issuer: the path of the endpoint is appended to the path of the issuer.
        case issuer
        /// The root of the host: the path of the issuer is left out.
        case host
        /// The path of the issuer, with and without a trailing slash, and the root of the host; ``Endpoint/path`` is
        /// ignored.
        case root
        /// The metadata URLs of the issuer (RFC 8414 §3.1, OpenID Connect Discovery §4); ``Endpoint/path`` is ignored.
        case metadata
        /// The metadata URL of the resource at the path of the endpoint below the issuer (RFC 9728 §3.1).
        case resourceMetadata
    }

    /// Whether the endpoint answers without the store, so that it waits only briefly for it.
    package var answersWithoutStore: Bool { isHealth || self == .metadata || self == .keySet }

    /// Whether the server reads a large request body only if the user is signed in.
    public var bodyNeedsSession: Bool { audience != .everyone }

    /// The kind of the audit event of a refused request; nil for a request that begins no sign-in.
    var kindOfRefusals: AuditEvent.Kind? {
        if answersUsers { return .browserRequest }
        return [.token, .pushedAuthorization, .deviceAuthorization].contains(self) ? .clientRequest : nil
    }

    /// Returns the absolute paths of the endpoint at the origin of an issuer; most endpoints have exactly one.
    public func paths(of issuer: Issuer) -> [String] {
        switch location {
        case .issuer: [issuer.path + path]
        case .host: [path]
        case .root: Set(["/", issuer.path, issuer.path + "/"].filter { !$0.isEmpty }).sorted()
        case .metadata: issuer.metadataURLs.map { String($0.dropFirst(issuer.origin.count)) }
        case .resourceMetadata: ["/.well-known/oauth-protected-resource" + issuer.path + path]
        }
    }

    /// Returns ``path`` with a user in place of `{user_id}`, in the form of ``UserPathSegment``.
    package func path(of user: UserIdentifier) -> String {
        path.replacing("{user_id}", with: UserPathSegment.encode(user))
    }

    /// Returns ``path`` with a client in place of `{client_id}`, in the form of ``ClientPathSegment``.
    package func path(of client: ClientIdentifier) -> String {
        path.replacing("{client_id}", with: ClientPathSegment.encode(client))
    }
}

extension Endpoint: Hashable, CustomStringConvertible {
    /// Returns true if both endpoints have the same name.
    public static func == (one: Endpoint, other: Endpoint) -> Bool { one.name == other.name }

    /// Hashes only the name, as `==` compares only names.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The name of the endpoint in logs and metrics.
    public var description: String { name }
}

extension Endpoint {
    /// Creates an endpoint for requests of clients with a body of at most 16 KiB, enough for tokens and assertions.
    static func answering(
        _ name: String, _ path: String, _ methods: [HTTPRequest.Method] = [.post], scriptAccess: ScriptAccess = .none
    ) -> Endpoint {
        Endpoint(
            name: name, path: path, methods: methods, bodyLimit: 16 * 1024, answersUsers: false,
            scriptAccess: scriptAccess)
    }

    /// Creates an endpoint for programs that supports only GET and HEAD.
    static func reading(_ name: String, _ path: String, scriptAccess: ScriptAccess = .none) -> Endpoint {
        Endpoint(
            name: name, path: path, methods: [.get, .head], bodyLimit: 0, answersUsers: false,
            scriptAccess: scriptAccess)
    }

    /// Creates the endpoint of a page that supports only GET.
    package static func page(_ name: String, _ path: String) -> Endpoint {
        Endpoint(name: name, path: path, methods: [.get], bodyLimit: 0, answersUsers: true)
    }

    /// Creates the endpoint of a page with a form that is posted to the same URL.
    package static func form(_ name: String, _ path: String, bodyLimit: Int = 128 * 1024) -> Endpoint {
        Endpoint(name: name, path: path, methods: [.get, .post], bodyLimit: bodyLimit, answersUsers: true)
    }

    /// Creates an endpoint that only receives the form of a page at another URL.
    package static func posting(
        _ name: String, _ path: String, bodyLimit: Int = 32 * 1024, answersUsers: Bool = true
    ) -> Endpoint {
        Endpoint(name: name, path: path, methods: [.post], bodyLimit: bodyLimit, answersUsers: answersUsers)
    }

    /// Returns a copy of the endpoint with the properties that the closure changes.
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

    /// A function that also records the client of the request as soon as it is known, before any further check.
    ///
    /// If the function throws, the recorded client remains, so that the error is shared with its origins only.
    typealias RespondToClient =
        @Sendable (
            _ request: IncomingRequest, _ now: Date, _ client: inout RequestingClient
        ) async throws -> Reply

    /// The answer to a request.
    enum Answer: Sendable {
        case reply(Reply)
        /// The request is refused; the server logs and records the refusal before it responds.
        case refusal(Refusal)
    }

    package let endpoint: Endpoint
    /// The function that answers requests; if it throws an error, ``Refusal`` turns the error into a response.
    let answer:
        @Sendable (_ request: IncomingRequest, _ now: Date, _ client: inout RequestingClient) async throws -> Answer

    /// Creates the handler of an endpoint whose responses do not depend on a client.
    ///
    /// At an endpoint with ``Endpoint/ScriptAccess/registered``, scripts can read only the errors of such a handler.
    package init(_ endpoint: Endpoint, _ respond: @escaping Respond) {
        self.endpoint = endpoint
        answer = { request, now, _ in .reply(try await respond(request, now)) }
    }

    /// Creates the handler of an endpoint that clients call.
    init(_ endpoint: Endpoint, ofClients respond: @escaping RespondToClient) {
        self.endpoint = endpoint
        answer = { request, now, client in .reply(try await respond(request, now, &client)) }
    }
}

/// The client that sent a request, as far as the endpoint knows it.
enum RequestingClient: Sendable {
    /// The request names no client, or an unregistered one, or the endpoint refused it before it looked for the client.
    case unknown
    /// The client that the request names; it may have failed to authenticate.
    case registered(RegisteredClient)
    /// The client of an access token that this server signed; its registration has not been read.
    case ofToken(ClientIdentifier)
}
