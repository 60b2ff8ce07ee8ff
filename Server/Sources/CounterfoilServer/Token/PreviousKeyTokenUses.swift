@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
package import Foundation

/// The uses of refresh tokens of former server keys whose clients had got a token of the current key before.
///
/// A client must replace its refresh token by that of a response (RFC 6749 §6). A token that is not rotated stays valid
/// all the same, so a client that keeps it needs the former server key for as long as it uses the token. The record of
/// the last use in the store does not show which of the two tokens was used.
package final class PreviousKeyTokenUses: Sendable {
    /// Records a use of a key, which is named by one of `ServerKey.fingerprints`.
    package typealias Recorder = @Sendable (_ fingerprint: String, _ time: Date) async throws -> Void

    private struct State {
        /// The last time at which each former key was the first one.
        var ends: [String: Date] = [:]
        var record: Recorder?
        /// The time of the last recorded use of each key.
        var recorded: [String: Date] = [:]
    }

    private let fingerprints: [String]
    private let state = Mutex(State())

    init(_ serverKey: ServerKey) { fingerprints = serverKey.fingerprints }

    /// Begins to record the uses; before this call, none is recorded.
    ///
    /// - Parameters:
    ///   - ends: The last time at which each key was the first one, by fingerprint.
    ///   - now: The end of the keys that are missing in `ends`.
    ///   - record: Records a use; it is called at most once in `RefreshFamily.useResolution` for each key.
    package func begin(after ends: [String: Date], now: Date, record: @escaping Recorder) {
        let known = Dictionary(uniqueKeysWithValues: Set(fingerprints).map { ($0, ends[$0] ?? now) })
        state.withLock { $0 = State(ends: known, record: record) }
    }

    /// Notes the use of a refresh token that its client keeps.
    ///
    /// If the use cannot be recorded, the next one is tried again.
    ///
    /// - Parameters:
    ///   - index: The place in the list of keys of the one that made the token.
    ///   - lastUsedAt: The use before, with which the client got a token of the key that was the first one then.
    ///   - now: The current time.
    func note(keyAt index: Int, lastUsedAt: Date, now: Date) async {
        guard fingerprints.indices.contains(index) else { return }
        let fingerprint = fingerprints[index]
        let record: Recorder? = state.withLock { state in
            guard let record = state.record, let end = state.ends[fingerprint], lastUsedAt > end,
                state.recorded[fingerprint].map({ now.timeIntervalSince($0) >= RefreshFamily.useResolution }) ?? true
            else { return nil }
            state.recorded[fingerprint] = now
            return record
        }
        guard let record else { return }
        do { try await record(fingerprint, now) } catch {
            state.withLock { $0.recorded[fingerprint] = nil }
        }
    }
}
