package import ACMEClient
import Crypto
import Foundation
package import NIOConcurrencyHelpers
package import TestSupport
import X509

/// An authority in this process, which checks every request (RFC 8555), and misbehaves on demand.
package final class ScriptedAuthority: AuthorityTransport {
    package static let origin = "https://authority.example"

    package struct State: Sendable {
        /// The responses that come in place of the usual ones, by path.
        package var responses: [String: [AuthorityResponse]] = [:]
        /// The number of requests, from now on, whose nonce is refused.
        package var refusedNonces = 0
        package var isReachable = true
        /// The number of requests, by path, that get no response and do not arrive.
        package var lost: [String: Int] = [:]
        /// The number of validations that fail while the challenge stays pending, as at step-ca.
        package var failuresWhilePending = 0
        /// Whether validations never end.
        package var ignoresValidations = false
        package var requiresExternalAccount = false
        package var isValid = true
        package var problemOfChallenge = #"{"type":"urn:ietf:params:acme:error:connection","detail":"refused"}"#
        /// The key in issued certificates, in place of that of the request.
        package var otherKey = false
        /// The hosts in issued certificates, in place of those of the request.
        package var otherNames: [String]?
        /// Whether accounts are shown without their contacts.
        package var hidesContacts = false
        package var validity = (start: -3600.0, end: 90 * 86_400.0)
        /// The renewal window in seconds from now; nil for none.
        package var window: (start: Double, end: Double)?

        package fileprivate(set) var paths: [String] = []
        package fileprivate(set) var accounts: [String: String] = [:]
        /// The contacts of each account, by path.
        package fileprivate(set) var contacts: [String: [String]] = [:]
        /// The number of updates of accounts.
        package fileprivate(set) var updates = 0
        package fileprivate(set) var replaced: [String?] = []
        package fileprivate(set) var hosts: [String] = []
        package fileprivate(set) var errors: [String] = []
        fileprivate var nonces: Set<String> = []
        fileprivate var count = 0
        fileprivate var isAnswered = false
        fileprivate var hasFailedWhilePending = false
        fileprivate var chain: String?
        /// An event before the authority sends the certificate.
        package var beforeCertificate: (@Sendable () async throws -> Void)?
        /// The text of the challenge that a server answers when the authority connects.
        package var probe: (@Sendable () async -> String?)?
    }

    package let state = NIOLockedValueBox(State())
    package let authority: TestAuthority

    package init() throws { authority = try TestAuthority("Scripted") }

    package var url: AuthorityURL? { AuthorityURL(Self.origin + "/directory") }

    private struct Unreachable: Error {}

    package func close() async {}

    package func send(_ request: AuthorityRequest) async throws -> AuthorityResponse {
        let path = String(request.url.dropFirst(Self.origin.count))
        let arrives = state.withLockedValue { state in
            guard state.isReachable else { return false }
            guard let count = state.lost[path], count > 0 else { return true }
            state.lost[path] = count - 1
            return false
        }
        guard arrives else { throw Unreachable() }
        let scripted = state.withLockedValue { state -> AuthorityResponse? in
            state.paths.append(path)
            guard var list = state.responses[path], !list.isEmpty else { return nil }
            defer { state.responses[path] = list }
            return list.removeFirst()
        }
        if let scripted { return scripted }
        if request.method == .post { return try await answer(request, at: path) }
        return state.withLockedValue { state in
            switch path {
            case "/directory":
                Self.response(
                    """
                    {"newNonce":"\(Self.origin)/nonce","newAccount":"\(Self.origin)/account",
                    "newOrder":"\(Self.origin)/order","renewalInfo":"\(Self.origin)/renewal",
                    "meta":{"externalAccountRequired":\(state.requiresExternalAccount)}}
                    """)
            case "/nonce": AuthorityResponse(status: 200, nonce: Self.nonce(&state))
            case _ where path.hasPrefix("/renewal/"):
                if let window = state.window {
                    Self.response(
                        """
                        {"suggestedWindow":{"start":"\(Self.text(window.start))","end":"\(Self.text(window.end))"}}
                        """)
                } else {
                    AuthorityResponse(status: 404)
                }
            default: AuthorityResponse(status: 404)
            }
        }
    }

    private static func text(_ seconds: Double) -> String { (Date() + seconds).ISO8601Format() }

    private static func response(_ json: String, status: Int = 200, at path: String? = nil) -> AuthorityResponse {
        AuthorityResponse(status: status, location: path.map { origin + $0 }, body: Array(json.utf8))
    }

    package static func problem(_ type: String, status: Int = 403, retryAfter: String? = nil) -> AuthorityResponse {
        AuthorityResponse(
            status: status, retryAfter: retryAfter,
            body: Array(#"{"type":"urn:ietf:params:acme:error:\#(type)","detail":"no"}"#.utf8))
    }

    private static func nonce(_ state: inout State) -> String {
        state.count += 1
        let nonce = "nonce-\(state.count)"
        state.nonces.insert(nonce)
        return nonce
    }

    private func answer(_ request: AuthorityRequest, at path: String) async throws -> AuthorityResponse {
        let jws = try Self.object(request.body)
        let (header, payload) = (try Self.object(Self.bytes(jws, "protected")), Self.bytes(jws, "payload"))
        let problem = state.withLockedValue { state -> AuthorityResponse? in
            if header.text("url") != request.url { state.errors.append("the URL of \(path)") }
            if header.text("alg") != "ES256" { state.errors.append("the algorithm of \(path)") }
            if (header.object("jwk") == nil) == (header.text("kid") == nil) {
                state.errors.append("jwk and kid of \(path)")
            }
            // RFC 8555 §6.2: only a new account names its key.
            if (path == "/account") != (header.object("jwk") != nil) { state.errors.append("jwk of \(path)") }
            let isFresh = header.text("nonce").map { state.nonces.remove($0) != nil } ?? false
            if !isFresh { state.errors.append("the nonce of \(path)") }
            guard state.refusedNonces > 0 else { return nil }
            state.refusedNonces -= 1
            return AuthorityResponse(
                status: 400, nonce: Self.nonce(&state),
                body: Array(#"{"type":"urn:ietf:params:acme:error:badNonce"}"#.utf8))
        }
        if let problem { return problem }
        if path == "/challenge" {
            let answer = await state.withLockedValue { $0.probe }?()
            state.withLockedValue { state in
                if state.failuresWhilePending > 0 {
                    state.failuresWhilePending -= 1
                    state.hasFailedWhilePending = true
                } else if !state.ignoresValidations {
                    state.isAnswered = true
                }
                if state.probe != nil, answer == nil { state.isValid = false }
            }
        }
        if path == "/certificate", let event = state.withLockedValue({ $0.beforeCertificate }) {
            try await event()
            // A request of a cancelled task gets no response.
            try Task.checkCancellation()
        }
        let members = try Self.object(payload.isEmpty ? Array("{}".utf8) : payload)
        return try state.withLockedValue { state in
            let answer = try self.answer(members, isRead: payload.isEmpty, header: header, at: path, &state)
            return AuthorityResponse(
                status: answer.status, nonce: Self.nonce(&state), location: answer.location,
                retryAfter: answer.retryAfter, body: answer.body)
        }
    }

    private func answer(
        _ payload: JSONMembers, isRead: Bool, header: JSONMembers, at path: String, _ state: inout State
    ) throws -> AuthorityResponse {
        switch path {
        case "/account":
            let key = header.object("jwk")?.text("x") ?? ""
            if let account = state.accounts[key] { return Self.account(account, state) }
            guard !payload.isTrue("onlyReturnExisting") else {
                return Self.problem("accountDoesNotExist", status: 400)
            }
            if !payload.isTrue("termsOfServiceAgreed") { state.errors.append("the terms") }
            if state.requiresExternalAccount != (payload.object("externalAccountBinding") != nil) {
                state.errors.append("the external account")
            }
            let account = "/account/\(state.accounts.count + 1)"
            state.accounts[key] = account
            state.contacts[account] = payload.texts("contact") ?? []
            return Self.account(account, state, status: 201)
        case _ where state.contacts[path] != nil:
            if header.text("kid") != Self.origin + path { state.errors.append("the account of \(path)") }
            if payload.texts("contact") == nil || payload.isTrue("termsOfServiceAgreed") {
                state.errors.append("the update of \(path)")
            }
            state.contacts[path] = payload.texts("contact") ?? []
            state.updates += 1
            return Self.account(path, state)
        case "/order":
            guard let list = payload.objects("identifiers") else { return AuthorityResponse(status: 400) }
            state.hosts = list.compactMap { $0.text("value") }
            state.replaced.append(payload.text("replaces"))
            state.isAnswered = false
            state.hasFailedWhilePending = false
            state.chain = nil
            return Self.response(order(state), status: 201, at: "/orders/1")
        case "/orders/1": return Self.response(order(state))
        case _ where path.hasPrefix("/authorization/"):
            let host = String(path.dropFirst("/authorization/".count))
            let status = !state.isAnswered ? "pending" : state.isValid ? "valid" : "invalid"
            let isFailed = status == "invalid" || status == "pending" && state.hasFailedWhilePending
            let error = isFailed ? ",\"error\":\(state.problemOfChallenge)" : ""
            func challenge(_ type: String) -> String {
                """
                {"type":"\(type)","url":"\(Self.origin)/challenge","status":"\(status)",
                "token":"evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA"\(error)}
                """
            }
            return Self.response(
                """
                {"status":"\(status)","identifier":{"type":"dns","value":"\(host)"},
                "challenges":[\(challenge("http-01")),\(challenge("tls-alpn-01"))]}
                """)
        case "/challenge": return Self.response(#"{"status":"processing"}"#)
        case "/finalize":
            let request = payload.text("csr").flatMap { Base64URL.decode($0) } ?? []
            let other = state.otherKey ? P256.Signing.PrivateKey().publicKey : nil
            state.chain = try authority.certify(
                request, naming: state.otherNames, for: other.map { .init($0) },
                from: Date() + state.validity.start, until: Date() + state.validity.end)
            return Self.response(order(state))
        case "/certificate":
            if !isRead { state.errors.append("the certificate is read by POST-as-GET") }
            return Self.response(state.chain ?? "")
        default: return AuthorityResponse(status: 404)
        }
    }

    /// Returns an account (RFC 8555 §7.1.2).
    private static func account(_ path: String, _ state: State, status: Int = 200) -> AuthorityResponse {
        let contacts = (state.contacts[path] ?? []).map { "\"\($0)\"" }.joined(separator: ",")
        let member = state.hidesContacts ? "" : ",\"contact\":[\(contacts)]"
        return response("{\"status\":\"valid\"\(member)}", status: status, at: path)
    }

    private func order(_ state: State) -> String {
        let status = state.chain != nil ? "valid" : state.isAnswered && state.isValid ? "ready" : "pending"
        let authorizations = state.hosts.map { "\"\(Self.origin)/authorization/\($0)\"" }.joined(separator: ",")
        return """
            {"status":"\(status)","authorizations":[\(authorizations)],"finalize":"\(Self.origin)/finalize"
            \(state.chain == nil ? "" : ",\"certificate\":\"\(Self.origin)/certificate\"")}
            """
    }

    /// The error for a request that is no JSON object.
    private struct NoObject: Error {}

    private static func object(_ json: [UInt8]) throws -> JSONMembers {
        guard let members = JSONMembers(json) else { throw NoObject() }
        return members
    }

    private static func bytes(_ jws: JSONMembers, _ name: String) -> [UInt8] {
        jws.text(name).flatMap { Base64URL.decode($0) } ?? []
    }
}
