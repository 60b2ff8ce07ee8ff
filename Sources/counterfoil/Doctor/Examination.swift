import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// What is found out about a server, a client and an API, step by step; each step is an extension in a file of its own.
struct Examination {
    /// What is examined.
    struct Subject: Sendable {
        var issuer: Issuer?
        var vendor: VendorServer?
        var clientID: ClientIdentifier?
        var redirectURI: String?
        var resource: String?
        var scope: Scope
    }

    let subject: Subject
    let transport: any HTTPTransport
    /// How long to wait for each answer.
    let patience: Duration
    private(set) var findings: [Finding] = []

    init(of subject: Subject, over transport: any HTTPTransport, patience: Duration) {
        self.subject = subject
        self.transport = transport
        self.patience = patience
    }

    mutating func sound(_ topic: String, _ text: String) {
        findings.append(Finding(weight: .sound, topic: topic, text: text, mend: nil, status: .unsafe))
    }

    mutating func advise(_ topic: String, _ text: String, mend: String? = nil) {
        findings.append(Finding(weight: .advice, topic: topic, text: text, mend: mend, status: .unsafe))
    }

    mutating func fault(_ topic: String, _ text: String, mend: String, status: ExitStatus = .unsafe) {
        findings.append(Finding(weight: .fault, topic: topic, text: text, mend: mend, status: status))
    }

    /// Whether a topic was found already.
    func has(_ topic: String) -> Bool { findings.contains { $0.topic == topic } }
}

// MARK: - Asking

extension Examination {
    /// Where a page of another origin would come from; nobody has that name (RFC 2606 §2).
    static let foreignOrigin = "https://app.example.com"

    /// Asks, and notes why no answer came when none does.
    mutating func ask(
        _ endpoint: EndpointURL, method: HTTPRequest.Method = .get, form: FormParameters? = nil,
        headerFields: HTTPFields = [:], as name: String
    ) async -> TransportResponse? {
        var fields = headerFields
        if fields[.accept] == nil { fields[.accept] = "application/json" }
        if let origin = HTTPField.Name("Origin") { fields[origin] = Self.foreignOrigin }
        if form != nil { fields[.contentType] = "application/x-www-form-urlencoded" }
        do throws(TransportFailure) {
            let response = try await transport.send(
                TransportRequest(
                    endpoint, method: method, headerFields: fields, body: Array((form?.encoded ?? "").utf8),
                    timeout: patience))
            noteClock(of: response, at: endpoint)
            return response
        } catch {
            note(error, at: name)
            return nil
        }
    }

    /// Says why there is no answer.
    mutating func note(_ failure: TransportFailure, at name: String) {
        switch failure {
        case .untrusted:
            fault(
                "tls-untrusted", "the \(name): \(failure)",
                mend:
                    "give the server a certificate of an authority that this system trusts, for exactly that name, with the"
                    + " certificates between")
        case .unreachable:
            fault(
                "unreachable", "the \(name): \(failure)", mend: "check the name, the port and the network",
                status: .unavailable)
        case .timedOut:
            fault(
                "no-answer-in-time", "the \(name): \(failure), or its answer does not end",
                mend: "see what the server is waiting for; --patience waits longer", status: .unavailable)
        case .tooLarge:
            fault(
                "answer-too-large", "the \(name): \(failure)",
                mend: "see what is sent there; an answer of this kind has some kilobytes")
        case .cancelled: break
        }
    }

    /// RFC 9110 §6.6.1: tokens are judged by the clock.
    private mutating func noteClock(of response: TransportResponse, at endpoint: EndpointURL) {
        guard !has("clock"), !has("clock-off"),
            let date = response.head.headerFields[.date].flatMap(HTTPDate.parse)
        else { return }
        let offset = Int(date.timeIntervalSinceNow.rounded())
        guard abs(offset) > 60 else {
            return sound("clock", "the clocks of \(endpoint.origin) and of this device agree")
        }
        let text =
            "the clock of \(endpoint.origin) is \(abs(offset)) s \(offset > 0 ? "ahead of" : "behind") this device's; tokens"
            + " would seem expired, or not valid yet"
        fault("clock-off", text, mend: "set both clocks by NTP")
    }

    /// The members of a JSON answer, strictly read.
    static func members(_ response: TransportResponse) -> [String: JSONValue]? {
        try? JSONReader.object(response.body)
    }
}

extension [String: JSONValue] {
    /// A member that is a text.
    func text(_ name: String) -> String? { if case .string(let text) = self[name] { text } else { nil } }

    /// A member that is a list of texts.
    func texts(_ name: String) -> [String]? {
        guard case .array(let values) = self[name] else { return nil }
        return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}
