@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Crypto
import Foundation
import HTTPTypes

/// The answers to requests that create something, which a client can repeat with one `Idempotency-Key`.
///
/// A repeated request gets the first answer, and creates nothing. The store notes the key before the operation begins;
/// if it is not known whether the operation was carried out, the key stays noted.
struct RepeatedRequests: Sendable {
    /// The number of seconds for which an answer is kept.
    static let retention: TimeInterval = 24 * 3600
    /// The maximum number of answers that are kept for a client.
    static let limitPerClient = 10_000

    private let call: AdministrationCall
    private let operation: AdministrationOperation

    init(_ operation: AdministrationOperation, _ call: AdministrationCall) {
        self.operation = operation
        self.call = call
    }

    /// Carries out the operation, unless the request repeats an earlier one.
    func answer() async throws -> AdministrationAnswer {
        guard let client = call.caller.clientID, let key = try key() else { return try await operation.perform(call) }
        let request = request(of: client, with: key)
        switch try await call.store.beginAnswer(to: request, atMost: Self.limitPerClient, at: call.now) {
        case .begun: return try await firstAnswer(to: request.digest)
        case .answered(let sealed): return try open(sealed, of: request.digest)
        case .otherContent:
            throw ProblemError(
                .unprocessableContent, "key-of-other-request", "Another request has used the key.",
                parts: [.header(Self.field, "Use another key for a request with another body.")])
        case .pending:
            throw ProblemError(
                .conflict, "request-pending",
                "The first request with the key has no known answer yet. Try again in a moment; if this stays, read "
                    + "whether the record exists.", fields: [.retryAfter: "1"])
        case .tooMany(let end):
            let wait = max(1, Int(end.timeIntervalSince(call.now).rounded(.up)))
            throw ProblemError(
                .tooManyRequests, "too-many-keys", "The client has used too many keys within 24 hours.",
                fields: [.retryAfter: String(wait)])
        }
    }

    private func firstAnswer(to digest: ArtefactDigest) async throws -> AdministrationAnswer {
        let answer: AdministrationAnswer
        do { answer = try await operation.perform(call) } catch {
            // After a commit without an answer, the record may exist. An operation reads nothing after its commit, so
            // nothing was created after any other error.
            if case .unconfirmed? = error as? StoreFault { throw error }
            try? await call.store.withdrawAnswer(to: digest)
            throw error
        }
        try await call.store.keepAnswer(try seal(answer, of: digest), to: digest, about: answer.user)
        return answer
    }

    private static let field = "Idempotency-Key"

    private func key() throws(ProblemError) -> String? {
        guard let name = HTTPField.Name(Self.field) else { return nil }
        let values = call.request.head.headerFields[values: name]
        guard let value = values.first else { return nil }
        guard values.count == 1, (1...255).contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw ProblemError(
                .badRequest, "invalid-key", "The key is refused.",
                parts: [.header(Self.field, "It must be sent once, with 1 to 255 visible ASCII characters.")])
        }
        return value
    }

    private func request(of client: ClientIdentifier, with key: String) -> RepeatableRequest {
        let caller = [client.rawValue, call.caller.user?.id.rawValue ?? ""]
        // The body can contain a password, so nothing that is stored may serve to guess it.
        var code = HMAC<SHA256>(key: call.components.serverKey.repeatedContents)
        code.update(data: Array((call.request.head.path ?? "").utf8) + [0])
        code.update(data: call.request.body)
        return RepeatableRequest(
            digest: ArtefactDigest(ofRepeatableRequest: RecordDigest(caller + [operation.id, key]).text),
            content: ArtefactDigest(ofRepeatableContent: Base64URL.encode(Array(code.finalize()))),
            clientID: client, expiresAt: call.now + Self.retention)
    }

    /// A kept answer, before it is encrypted.
    private struct Kept: Codable {
        let body: Data?
        let version: String?
        let location: String?
    }

    private var keys: DerivedKeys { call.components.serverKey.keptAnswers }

    private func seal(_ answer: AdministrationAnswer, of digest: ArtefactDigest) throws -> [UInt8] {
        let kept = Kept(
            body: answer.body.map { Data($0) }, version: answer.fields[.eTag], location: answer.fields[.location])
        return try keys.seal(Array(try JSONEncoder().encode(kept)), authenticating: digest.bytes)
    }

    private func open(_ sealed: [UInt8], of digest: ArtefactDigest) throws -> AdministrationAnswer {
        let bytes = try keys.open(sealed, authenticating: digest.bytes).bytes
        let kept = try JSONDecoder().decode(Kept.self, from: Data(bytes))
        var fields: HTTPFields = [:]
        if let version = kept.version { fields[.eTag] = version }
        if let location = kept.location { fields[.location] = location }
        return AdministrationAnswer(kept: kept.body.map { Array($0) }, fields: fields)
    }
}
