import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// An authorization server on a real port that does everything right, except what a script says otherwise.
final class ScriptedServer: Sendable {
    /// An answer to one request.
    struct Answer: Sendable {
        var status = HTTPResponse.Status.ok
        var headerFields: HTTPFields = [.contentType: "application/json"]
        var body: [UInt8] = []

        static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Answer {
            Answer(status: status, body: Array(text.utf8))
        }

        static func html(status: HTTPResponse.Status = .ok) -> Answer {
            Answer(
                status: status, headerFields: [.contentType: "text/html"], body: Array("<!doctype html><p>Oops".utf8))
        }

        static func redirect(to location: String) -> Answer {
            Answer(status: .found, headerFields: [.location: location])
        }
    }

    /// What the server does differently from an honest one; every closure gets the honest thing.
    struct Script: Sendable {
        var metadata: @Sendable (inout AuthorizationServerMetadata) -> Void = { _ in }
        var metadataAnswer: @Sendable (_ path: String, Answer) -> Answer = { $1 }
        var callback: @Sendable (inout FormParameters) -> Void = { _ in }
        var callbackBase: @Sendable (String) -> String = { $0 }
        var tokenAnswer: @Sendable (_ honest: Answer) -> Answer = { $0 }
        var claims: @Sendable (inout IDTokenClaims) -> Void = { _ in }
        var idToken: @Sendable (String) -> String? = { $0 }
        var keys: @Sendable (_ fetch: Int, [JSONWebKey]) -> [JSONWebKey] = { $1 }
        var expiresIn = "3600"
        var resource: @Sendable (HTTPRequest) -> Answer = { _ in .json("{\"photos\":[]}") }
    }

    /// A request as it arrived.
    struct Seen: Sendable {
        let head: HTTPRequest
        let body: [UInt8]

        var path: String { String((head.path ?? "").prefix { $0 != "?" }) }
        var form: FormParameters? { try? FormParameters(parsing: body) }
        var query: FormParameters? {
            try? FormParameters(parsing: String((head.path ?? "").drop { $0 != "?" }.dropFirst()))
        }
    }

    /// `http://127.0.0.1:PORT`, without path.
    let issuer: Issuer
    private let script: Script
    private let key: SigningKey
    private let records = Mutex<[Seen]>([])
    private let nonces = Mutex<[String: Nonce]>([:])

    private init(issuer: Issuer, script: Script) throws {
        self.issuer = issuer
        self.script = script
        key = try SigningKey.generate(.es256)
    }

    /// Every request that arrived, in order.
    var seen: [Seen] { records.withLock { $0 } }

    /// The requests to one path.
    func seen(at path: String) -> [Seen] { seen.filter { $0.path == path } }

    /// Runs a server for as long as the test's body.
    static func run(
        _ script: Script = Script(),
        _ body: @Sendable @escaping (ScriptedServer) async throws -> Void
    ) async throws {
        let (servers, started) = AsyncStream.makeStream(of: ScriptedServer.self)
        let holder = Mutex<ScriptedServer?>(nil)
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                guard let server = holder.withLock({ $0 }) else { return Response(status: .serviceUnavailable) }
                return try await server.respond(to: request)
            },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                guard let port = channel.localAddress?.port, let issuer = try? Issuer("http://127.0.0.1:\(port)"),
                    let server = try? ScriptedServer(issuer: issuer, script: script)
                else { return started.finish() }
                holder.withLock { $0 = server }
                started.yield(server)
            }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.runService(gracefulShutdownSignals: []) }
            defer { group.cancelAll() }
            for await server in servers {
                try await body(server)
                break
            }
        }
    }

    private func respond(to request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        let seen = Seen(head: request.head, body: Array(body.readableBytesView))
        records.withLock { $0.append(seen) }
        let answer = try answer(to: seen)
        return Response(
            status: answer.status, headers: answer.headerFields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }

    private func answer(to request: Seen) throws -> Answer {
        switch request.path {
        case let path where path.contains("/.well-known/"): return try metadata(at: path)
        case "/oauth2/authorize": return authorize(request)
        case "/oauth2/token": return script.tokenAnswer(try token(request))
        case "/oauth2/jwks":
            let keys = script.keys(seen(at: "/oauth2/jwks").count, [key.publicKey])
            return Answer(body: JSONWebKeySet(keys: keys).encoded())
        case "/oauth2/revoke": return Answer()
        case "/photos": return script.resource(request.head)
        default: return Answer(status: .notFound)
        }
    }

    private func metadata(at path: String) throws -> Answer {
        var metadata = AuthorizationServerMetadata(issuer: issuer)
        metadata.authorizationEndpoint = issuer.endpoint("/oauth2/authorize")
        metadata.tokenEndpoint = issuer.endpoint("/oauth2/token")
        metadata.jwksURI = issuer.endpoint("/oauth2/jwks")
        metadata.codeChallengeMethodsSupported = ["S256"]
        metadata.authorizationResponseIssParameterSupported = true
        script.metadata(&metadata)
        return script.metadataAnswer(path, Answer(body: try metadata.encoded()))
    }

    private func authorize(_ request: Seen) -> Answer {
        guard let form = request.query, let redirectURI = (try? form.single("redirect_uri")).flatMap({ $0 }) else {
            return Answer(status: .badRequest)
        }
        let code = AuthorizationCode().exposed
        if let nonce = (try? form.single("nonce")).flatMap({ $0 }).flatMap(Nonce.init) {
            nonces.withLock { $0[code] = nonce }
        }
        var response = FormParameters(["code": code])
        response.append("state", ifPresent: (try? form.single("state")).flatMap { $0 })
        response.append("iss", issuer.rawValue)
        script.callback(&response)
        return .redirect(to: "\(script.callbackBase(redirectURI))?\(response.encoded)")
    }

    private func token(_ request: Seen) throws -> Answer {
        guard let form = request.form, let code = try form.single("code"), let client = try form.single("client_id"),
            let clientID = ClientIdentifier(client)
        else { return .json("{\"error\":\"invalid_request\"}", status: .badRequest) }
        var members = [
            "\"access_token\":\"\(Self.accessToken)\"", "\"token_type\":\"Bearer\"",
            "\"expires_in\":\(script.expiresIn)",
            "\"refresh_token\":\"\(Self.refreshToken)\"",
        ]
        if let nonce = nonces.withLock({ $0[code] }) {
            var claims = IDTokenClaims(
                issuer: issuer, subject: "alice", audience: [clientID.rawValue],
                expires: Date(timeIntervalSinceNow: 3600), issuedAt: Date(), nonce: nonce)
            script.claims(&claims)
            if let token = script.idToken(try key.sign(claims)) { members.append("\"id_token\":\"\(token)\"") }
        }
        return .json("{\(members.joined(separator: ","))}")
    }

    static let accessToken = "access-token-that-nobody-may-see"
    static let refreshToken = "refresh-token-that-nobody-may-see"
}
