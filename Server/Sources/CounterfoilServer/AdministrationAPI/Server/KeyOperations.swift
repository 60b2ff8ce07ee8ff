package import CounterfoilStore
package import CounterfoilTokens
package import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the keys that sign tokens.
    static let keys: [AdministrationOperation] = [
        AdministrationOperation(
            "listSigningKeys", .get, "/signing-keys", .readServer, query: ["limit", "cursor"],
            answer: .list(KeyDocument.self)
        ) { call in
            let keys = try await call.store.signingKeys().map { KeyDocument($0, now: call.now) }
            return try call.page(of: keys, list: "signing-keys", id: \.kid)
        },
        AdministrationOperation(
            "rotateSigningKeys", .post, "/signing-keys/rotation", .writeServer, body: KeyRotationBody.self,
            answer: .list(KeyDocument.self), status: .created
        ) { call, body in
            let rotation = KeyRotation(call.store, serverKey: call.components.serverKey)
            var made: [KeyDocument] = []
            for algorithm in try await rotation.algorithms(body.algorithm) {
                let key = try await rotation.rotate(algorithm, body.isAtOnce ? .atOnce : .afterNotice, now: call.now) {
                    call.event(.signingKey, detail: $0)
                }
                guard let key else {
                    throw ProblemError.conflict(
                        "rotated-meanwhile", nil,
                        "The key of \(algorithm) was rotated at the same time. Read the keys before you try again.")
                }
                made.append(KeyDocument(key, now: call.now))
            }
            return try AdministrationAnswer(list: made, next: nil)
        },
    ]
}

/// The body with which keys are rotated.
struct KeyRotationBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case algorithm
        case isAtOnce = "now"
    }

    let algorithm: SigningAlgorithm?
    /// Whether the new keys sign at once.
    let isAtOnce: Bool

    init?(_ members: inout BodyMembers<Member>) {
        let algorithms = KeyRing.algorithms.map(\.rawValue).joined(separator: ", ")
        algorithm = members.value(.algorithm, rule: "It must be one of \(algorithms).") { text in
            KeyRing.algorithms.first { $0.rawValue == text }
        }
        isAtOnce = members.flag(.isAtOnce) ?? false
    }
}

/// A signing key in answers of the administration API, and in the output of commands.
package struct KeyDocument: AdministrationDocument {
    typealias Member = CodingKeys

    package let kid: String
    package let algorithm: String
    package let state: String
    package let since: String
    package let signsFrom: String

    enum CodingKeys: String, CodingKey, CaseIterable {
        case kid, algorithm, state, since
        case signsFrom = "signs_from"
    }

    package init(_ key: SealedSigningKey, now: Date) {
        let (state, since) = key.state(at: now)
        kid = key.id.rawValue
        algorithm = key.algorithm.rawValue
        self.state = state.rawValue
        self.since = Moment.text(since)
        signsFrom = Moment.text(key.signsFrom)
    }
}
