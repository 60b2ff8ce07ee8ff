import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation

/// A signing key in the output of commands.
struct KeyDocument: Encodable {
    let kid: String
    let algorithm: String
    let state: String
    let since: String
    let signsFrom: String

    private enum CodingKeys: String, CodingKey {
        case kid, algorithm, state, since
        case signsFrom = "signs_from"
    }

    init(_ key: SealedSigningKey, now: Date) {
        let (state, since) = key.state(at: now)
        kid = key.id.rawValue
        algorithm = key.algorithm.rawValue
        self.state = state.rawValue
        self.since = Moment.text(since)
        signsFrom = Moment.text(key.signsFrom)
    }

    /// The key as one line of text.
    var words: String { "\(kid)  \(algorithm)  \(state) since \(since)" }
}
