import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The state and the behaviour of a scripted server, without a socket.
struct MiniatureServer: Sendable {
    /// The script; when its interruptions change, the server counts the requests for each of them from zero again.
    var script: ServerScript {
        didSet {
            if script.interruptions != oldValue.interruptions { counts = [:] }
        }
    }
    /// The URL `http://127.0.0.1:PORT` on which the server listens.
    let address: String
    /// The origin of the other server in the same run; empty if there is none.
    var sibling = ""
    var keys: MiniatureKeys
    var nonces = MiniatureNonces()
    private var counts: [Int: Int] = [:]

    init(script: ServerScript, address: String) throws {
        self.script = script
        self.address = address
        keys = try MiniatureKeys(algorithm: script.keys.algorithm)
    }

    /// Returns the response to a request.
    ///
    /// It is that of the endpoint, unless the script has an ``Interruption`` for the request, which replaces it.
    mutating func answer(
        _ request: RecordedRequest, from vault: inout VaultContents, at time: Date
    ) throws -> ScriptedAnswer {
        for name in ["code", "code_verifier", "refresh_token", "client_secret", "device_code", "client_assertion"] {
            vault.keepSecret(request.form[name])
        }
        if let preflight = preflight(request) { return preflight }
        guard let interruption = interruption(of: request) else {
            return shared(filled(try honestAnswer(request, from: &vault, at: time)), with: request)
        }
        if interruption.moment == .after { _ = try honestAnswer(request, from: &vault, at: time) }
        return shared(filled(interruption.answer), with: request)
    }

    /// Adds the header fields of CORS if the script allows every origin.
    private func shared(_ answer: ScriptedAnswer, with request: RecordedRequest) -> ScriptedAnswer {
        guard script.allowsEveryOrigin, let origin = request.origin else { return answer }
        var answer = answer
        answer.headerFields += [
            .init("Access-Control-Allow-Origin", origin), .init("Access-Control-Allow-Credentials", "true"),
        ]
        if !script.exposedFields.isEmpty {
            answer.headerFields.append(
                .init("Access-Control-Expose-Headers", script.exposedFields.joined(separator: ", ")))
        }
        return answer
    }

    /// Answers a preflight request (Fetch §3.3.5); nil if this is none, or if scripts of other origins have no access.
    private func preflight(_ request: RecordedRequest) -> ScriptedAnswer? {
        guard script.allowsEveryOrigin, request.method == .options,
            let method = request.field("Access-Control-Request-Method")
        else { return nil }
        let fields = script.allowedFields?.joined(separator: ", ") ?? request.field("Access-Control-Request-Headers")
        var answer = ScriptedAnswer(status: 204, headerFields: [.init("Access-Control-Allow-Methods", method)])
        if let fields { answer.headerFields.append(.init("Access-Control-Allow-Headers", fields)) }
        return shared(answer, with: request)
    }

    private mutating func interruption(of request: RecordedRequest) -> Interruption? {
        var found: Interruption?
        for (index, interruption) in script.interruptions.enumerated() where interruption.concerns(request) {
            let number = counts[index, default: 0]
            counts[index] = number + 1
            if found == nil, interruption.applies(to: number) { found = interruption }
        }
        return found
    }

    private mutating func honestAnswer(
        _ request: RecordedRequest, from vault: inout VaultContents, at time: Date
    ) throws -> ScriptedAnswer {
        let now = time.addingTimeInterval(TimeInterval(script.clockOffset))
        switch request.endpoint {
        case .metadata: return metadata(at: metadataPaths[request.path])
        case .resourceMetadata: return resourceMetadata()
        case .authorization: return authorize(request, from: &vault, at: now)
        case .token: return try token(request, from: &vault, at: now)
        case .pushedAuthorization: return push(request, to: &vault, at: now)
        case .deviceAuthorization: return beginDevice(request, in: &vault, at: now)
        case .verification: return .html("Enter the code that your device shows")
        case .userInfo: return try userInfo(request, from: &vault, at: now)
        case .keys: return try keySet()
        case .revocation: return revoke(request, in: &vault)
        case .registration: return register(request, in: &vault)
        case .registrationManagement: return manage(request, in: &vault)
        case .errorPage:
            if case .pageElsewhere(_, let status) = script.authorization.rejection { return .html(status: status) }
            return .html("This application cannot sign in here")
        case .endSession: return endSession(request)
        case .serverInfo: return serverInfo()
        case .api: return api(request, from: &vault, at: now)
        case .unknown: return ScriptedAnswer(status: 404)
        }
    }
}

extension MiniatureServer {
    /// The origin of every URL that the server publishes.
    var origin: String { script.publicOrigin ?? address }

    /// The issuer that the server publishes, with its placeholders replaced.
    var issuer: String {
        script.issuer.replacing("{origin}", with: origin).replacing("{path}", with: script.issuerPath)
    }

    /// Returns the URL of an endpoint; for metadata, this is the well-known URL of RFC 8414 or RFC 9728.
    func url(of endpoint: ScriptedEndpoint) -> String {
        switch endpoint {
        case .metadata: "\(origin)/.well-known/oauth-authorization-server\(script.issuerPath)"
        case .resourceMetadata: "\(origin)/.well-known/oauth-protected-resource\(script.path(of: .api) ?? "")"
        default: origin + (script.path(of: endpoint) ?? script.issuerPath)
        }
    }

    /// Returns the endpoint at a path, or `unknown` if the server has none there.
    func endpoint(at path: String) -> ScriptedEndpoint {
        if metadataPaths[path] != nil { return .metadata }
        if path == "/.well-known/oauth-protected-resource\(script.path(of: .api) ?? "")" {
            return script.metadata.absent.contains(.resourceMetadata) ? .unknown : .resourceMetadata
        }
        for endpoint in ScriptedEndpoint.allCases where endpoint != .api && !script.metadata.absent.contains(endpoint) {
            if script.path(of: endpoint) == path { return endpoint }
        }
        let api = script.path(of: .api) ?? ""
        return path == api || path.hasPrefix(api + "/") ? .api : .unknown
    }

    /// The locations of the metadata document, by path.
    private var metadataPaths: [String: MetadataScript.Form] {
        let places = MetadataScript.Form.allCases.filter(script.metadata.forms.contains).map { form in
            let path =
                switch form {
                case .oauth: "/.well-known/oauth-authorization-server\(script.issuerPath)"
                case .openID: "/.well-known/openid-configuration\(script.issuerPath)"
                case .openIDAppended: "\(script.issuerPath)/.well-known/openid-configuration"
                }
            return (path, form)
        }
        return Dictionary(places) { first, _ in first }
    }

    /// Replaces the placeholders `{origin}`, `{issuer}` and `{sibling}` in a text.
    func filled(_ text: String) -> String {
        guard text.contains("{") else { return text }
        return text.replacing("{origin}", with: origin).replacing("{issuer}", with: issuer)
            .replacing("{sibling}", with: sibling).replacing("{token}", with: url(of: .token))
    }

    private func filled(_ answer: ScriptedAnswer) -> ScriptedAnswer {
        var answer = answer
        answer.headerFields = answer.headerFields.map { .init($0.name, filled($0.value)) }
        if case .text(let text) = answer.body { answer.body = .text(filled(text)) }
        return answer
    }

    /// Encodes members as the JSON response of an endpoint, with duplicate members or nested arrays if
    /// the script requires them.
    func json(
        _ members: [WireMember], at endpoint: ScriptedEndpoint, status: Int = 200,
        headerFields: [ScriptedAnswer.Field] = []
    ) -> ScriptedAnswer {
        var members = members
        if script.metadata.doubled.contains(endpoint) { members += members }
        if let depth = script.metadata.depths[endpoint] {
            members.append(
                WireMember(
                    "depth", .raw(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))))
        }
        return .json(WireValue.object(members).written, status: status, headerFields: headerFields)
    }
}
