import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// An examination of a server, a client and an API in steps.
///
/// Each step is in a separate file, in an extension of this type.
struct Examination {
    /// The server, client and API under examination.
    struct Subject: Sendable {
        var issuer: Issuer?
        var vendor: VendorServer?
        var clientID: ClientIdentifier?
        var authentication = ClientAuthentication.none
        /// The origin of a single-page client; nil for a native client, which CORS does not affect.
        var origin: String?
        var redirectURI: String?
        var resource: String?
        var scope: Scope
    }

    var subject: Subject
    let transport: any HTTPTransport
    /// The time limit for each response.
    let timeout: Duration
    private(set) var findings: [Finding] = []
    /// Whether the challenge or the metadata of the API state a scope.
    var apiStatesScope = false
    /// The authentication contexts that the challenge of the API demands (`acr_values`, RFC 9470 §3).
    var apiContexts: [String] = []
    /// The URL of the server's metadata; nil until it is found.
    var metadataURL: EndpointURL?

    init(of subject: Subject, over transport: any HTTPTransport, timeout: Duration) {
        self.subject = subject
        self.transport = transport
        self.timeout = timeout
    }

    mutating func sound(_ topic: String, _ text: String) {
        findings.append(Finding(weight: .sound, topic: topic, text: text, mend: nil, status: .unsafe))
    }

    mutating func advise(_ topic: String, _ text: String, why: String? = nil, mend: String? = nil) {
        findings.append(Finding(weight: .advice, topic: topic, text: text, why: why, mend: mend, status: .unsafe))
    }

    mutating func fault(
        _ topic: String, _ text: String, why: String? = nil, mend: String, status: ExitStatus = .unsafe
    ) {
        findings.append(Finding(weight: .fault, topic: topic, text: text, why: why, mend: mend, status: status))
    }

    mutating func record(_ finding: Finding) { findings.append(finding) }

    func has(_ topic: String) -> Bool { findings.contains { $0.topic == topic } }
}

// MARK: - Requests

extension Examination {
    /// Sends a form with the authentication of the client; records a finding if there is no response.
    ///
    /// After `invalid_client`, the function tries the next method that the server lists for a secret.
    mutating func post(
        _ form: FormParameters, to endpoint: EndpointURL, of client: ClientIdentifier,
        at server: AuthorizationServerConfiguration, headerFields: HTTPFields = [:], as name: String
    ) async -> TransportResponse? {
        var last: TransportResponse?
        for method in subject.authentication.candidates(at: server) {
            var authenticated = form
            var fields = headerFields
            // The authentication adds `client_id`, except with `client_secret_basic`.
            if case .secretBasic = method { authenticated.append("client_id", client.rawValue) }
            do throws(TransportFailure) {
                try await method.apply(to: &authenticated, headerFields: &fields, clientID: client, at: server)
            } catch {
                note(error, at: name)
                return nil
            }
            last = await ask(endpoint, method: .post, form: authenticated, headerFields: fields, as: name)
            guard let last, Self.members(last)?.text("error") == "invalid_client" else { break }
        }
        return last
    }

    /// Sends a request; records a finding if there is no response.
    ///
    /// The request contains `Origin` only for a single-page client, because some servers refuse an unknown origin. If
    /// `isRequired` is false, the caller records the missing response.
    mutating func ask(
        _ endpoint: EndpointURL, method: HTTPRequest.Method = .get, form: FormParameters? = nil,
        headerFields: HTTPFields = [:], body: [UInt8] = [], readsBody: Bool = true,
        isRequired: Bool = true, as name: String
    ) async -> TransportResponse? {
        var fields = headerFields
        if fields[.accept] == nil { fields[.accept] = "application/json" }
        if let name = HTTPField.Name("Origin"), fields[name] == nil, let origin = subject.origin {
            fields[name] = origin
        }
        if form != nil { fields[.contentType] = "application/x-www-form-urlencoded" }
        var request = TransportRequest(
            endpoint, method: method, headerFields: fields,
            body: form.map { RequestBody($0.encoded.utf8) } ?? RequestBody(body), timeout: timeout)
        request.readsBody = readsBody
        do throws(TransportFailure) {
            let response = try await transport.send(request)
            noteClock(of: response, at: endpoint)
            return response
        } catch {
            if isRequired { note(error, at: name) }
            return nil
        }
    }

    /// Records the reason why a request has no response.
    mutating func note(_ failure: TransportFailure, at name: String) {
        switch failure {
        case .untrusted:
            fault(
                "tls-untrusted", "the \(name): \(failure)",
                mend:
                    "install a certificate for exactly that host name from an authority that this system trusts, with its"
                    + " intermediate certificates")
        case .unreachable:
            fault(
                "unreachable", "the \(name): \(failure)", mend: "check the name, the port and the network",
                status: .unavailable)
        case .timedOut:
            fault(
                "no-answer-in-time", "the \(name): \(failure), or its response does not end",
                mend: "check what delays the server, or wait longer with --timeout", status: .unavailable)
        case .tooLarge:
            fault(
                "answer-too-large", "the \(name): \(failure)",
                mend: "check the response; a valid one has a few kilobytes")
        case .notSigned(let reason):
            fault("client-key", "the \(name): \(reason)", mend: "check the client key", status: .usage)
        case .misconfigured(let reason):
            fault(
                "environment", "the \(name): \(reason)", mend: "change or unset the variable", status: .usage)
        case .bodyUnreadable:
            fault("unreadable-body", "the \(name): \(failure)", mend: "check the file", status: .usage)
        case .cancelled: break
        }
    }

    /// Compares the server's clock with this device's (RFC 9110 §6.6.1).
    ///
    /// If the clocks differ, valid tokens can appear expired or not yet valid.
    private mutating func noteClock(of response: TransportResponse, at endpoint: EndpointURL) {
        guard !has("clock"), !has("clock-off"),
            let date = response.head.headerFields[.date].flatMap(HTTPDate.parse)
        else { return }
        let offset = Int(date.timeIntervalSinceNow.rounded())
        guard abs(offset) > 60 else {
            return sound("clock", "the clocks of \(endpoint.origin) and this device agree")
        }
        let text =
            "the clock of \(endpoint.origin) is \(abs(offset)) s \(offset > 0 ? "ahead of" : "behind") this device's; tokens"
            + " could seem expired or not yet valid"
        fault("clock-off", text, mend: "synchronize both clocks with NTP")
    }

    /// Returns a text of a server without control characters, cut at 200 characters.
    static func shown(_ text: String) -> String { String(text.prefix(200)).strippingControlCharacters }

    /// Returns the first authentication contexts of a list, with their meanings.
    static func spoken(_ contexts: [String]) -> String {
        contexts.prefix(8).map { "\(SpokenContext($0))" }.joined(separator: ", ") + (contexts.count > 8 ? ", …" : "")
    }

    /// Parses the body as a JSON object; nil if it is invalid or has duplicate members.
    static func members(_ response: TransportResponse) -> [String: JSONValue]? {
        try? JSONReader.object(response.body, acceptingHugeNumbers: true)
    }
}

extension [String: JSONValue] {
    /// Returns the named member if it is a string; otherwise nil.
    func text(_ name: String) -> String? { self[name]?.text }

    /// Returns the strings in the named member if it is an array; otherwise nil.
    func texts(_ name: String) -> [String]? { self[name]?.texts }
}
