import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the keys that sign tokens, and on the keys of the server itself.
    static let keys: [AdministrationOperation] = [
        AdministrationOperation(
            "listSigningKeys", .get, "/signing-keys", .readServer, query: ["limit", "cursor"],
            answer: .list(KeyDocument.self)
        ) { call in
            try call.page(
                of: try await call.keyUses(), list: "signing-keys", id: { $0.key.id.rawValue }, as: { KeyDocument($0) })
        },
        AdministrationOperation(
            "rotateSigningKeys", .post, "/signing-keys/rotation", .writeServer, body: KeyRotationBody.self,
            answer: .list(KeyDocument.self), status: .created, KeyRotations.rotate),
        AdministrationOperation("withdrawSigningKey", .delete, "/signing-keys/{key}", .writeServer) { call in
            switch try await call.server.withdraw(KeyIdentifier(rawValue: try call.segment("key"))) {
            case .withdrawn: return .none
            case .notFound: throw NotFoundError()
            case .changedMeanwhile: throw ProblemError.rotatedMeanwhile
            }
        },
        AdministrationOperation(
            "listServerKeys", .get, "/server-keys", .readServer, query: ["limit", "cursor"],
            answer: .list(ServerKeyState.self)
        ) { call in
            guard let reporter = call.components.reporter else { throw NotFoundError() }
            try call.countCheck()
            return try call.page(
                of: try await reporter.serverKeys(for: call.request.context), list: "server-keys", id: \.fingerprint)
        },
    ]
}

private enum KeyRotations {
    static func rotate(_ call: AdministrationCall, _ body: KeyRotationBody) async throws -> AdministrationAnswer {
        let former = try await call.keyUses()
        let known = Set(former.map(\.key.algorithm))
        let algorithms =
            body.algorithm.map { [$0] }
            ?? KeyRing.algorithms.filter { KeyRing.algorithmsFromStart.contains($0) || known.contains($0) }
        let (needs, lifetimes) = try await call.signingNeeds()
        var made: [KeyDocument] = []
        for algorithm in algorithms {
            // The newest key must still be the one that was read, so a request that is sent twice rotates it once.
            let newest = former.last { $0.key.algorithm == algorithm && $0.key.replacedAt == nil }
            let key = try await call.server.rotate(
                algorithm, body.isAtOnce || body.withdrawsFormer ? .atOnce : .afterNotice, replacing: newest?.key.id)
            guard let key else { continue }
            made.append(KeyDocument(SigningKeyUse(key, needs: needs, lifetimes: lifetimes, at: call.now)))
            guard body.withdrawsFormer else { continue }
            // One request deletes all of them: the token of another one could be signed with a key that is gone.
            for use in former where use.key.algorithm == algorithm {
                if case .changedMeanwhile = try await call.server.withdraw(use.key.id) {
                    throw ProblemError.rotatedMeanwhile
                }
            }
        }
        guard !made.isEmpty else { throw ProblemError.rotatedMeanwhile }
        return try AdministrationAnswer(list: made, next: nil)
    }
}

extension AdministrationCall {
    /// The changes of signing keys and of tokens for registration that the caller makes.
    var server: ServerAdministration {
        components.serverAdministration(at: now) { event($0, detail: $1) }
    }

    /// Reads the signing keys, oldest first, with what needs them.
    fileprivate func keyUses() async throws -> [SigningKeyUse] {
        let (needs, lifetimes) = try await signingNeeds()
        return try await store.signingKeys().map { SigningKeyUse($0, needs: needs, lifetimes: lifetimes, at: now) }
    }

    /// Reads what needs the signing keys.
    fileprivate func signingNeeds() async throws -> (needs: SigningNeeds, lifetimes: TokenLifetimes) {
        let needs = try await store.signingNeeds()
        // The keys are shown although another version has written the policy.
        let policy = try? await components.registry.fresh().effectiveUnregisteredClientPolicy(settings)
        let usual = TokenLifetimes(accessToken: settings.accessTokenLifetime, idToken: settings.idTokenLifetime)
        return (needs, usual.covering(needs, unregistered: policy))
    }
}

extension ProblemError {
    fileprivate static let rotatedMeanwhile = conflict(
        "rotated-meanwhile", nil, "A key was rotated at the same time. Read the keys before you try again.")
}

/// The body with which keys are rotated.
struct KeyRotationBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case algorithm
        case isAtOnce = "now"
        case withdrawsFormer = "withdraw"
    }

    let algorithm: SigningAlgorithm?
    /// Whether the new keys sign at once.
    let isAtOnce: Bool
    /// Whether the new keys sign at once, and the former ones are deleted.
    let withdrawsFormer: Bool

    init?(_ members: inout BodyMembers<Member>) {
        let algorithms = KeyRing.algorithms.map(\.rawValue).joined(separator: ", ")
        algorithm = members.value(.algorithm, rule: "It must be one of \(algorithms).") { text in
            KeyRing.algorithms.first { $0.rawValue == text }
        }
        isAtOnce = members.flag(.isAtOnce, orNull: true) ?? false
        withdrawsFormer = members.flag(.withdrawsFormer, orNull: true) ?? false
    }
}

/// A signing key in answers of the administration API.
struct KeyDocument: AdministrationDocument {
    typealias Member = CodingKeys

    let kid: String
    let algorithm: String
    let state: String
    let since: String
    let signsFrom: String
    /// The time from which no token of the key is valid; nil while no end of its signatures is planned.
    let tokensUntil: String?
    /// The time for which an access token of the key can still be valid, in seconds.
    let accessTokenSeconds: Int
    /// The number of clients that get ID tokens with the algorithm.
    let clients: Int

    enum CodingKeys: String, CodingKey, CaseIterable {
        case kid, algorithm, state, since
        case signsFrom = "signs_from"
        case tokensUntil = "tokens_until"
        case accessTokenSeconds = "access_token_seconds"
        case clients = "apps"
    }

    init(_ use: SigningKeyUse) {
        kid = use.key.id.rawValue
        algorithm = use.key.algorithm.rawValue
        state = use.state.rawValue
        since = Moment.text(use.since)
        signsFrom = Moment.text(use.key.signsFrom)
        tokensUntil = use.tokensEnd.map(Moment.text)
        accessTokenSeconds = use.accessTokenSeconds
        clients = use.clients
    }
}
