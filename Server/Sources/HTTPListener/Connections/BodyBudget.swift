import NIOConcurrencyHelpers

/// The limits of memory for request bodies, in bytes: one for all connections together, and one for each source
/// address.
///
/// The first bytes of each body are not counted, so that large uploads never cause a small request to be refused. The
/// connection limit bounds the total of these uncounted bytes.
final class BodyBudget: Sendable {
    /// The number of bytes at the start of each body that are not counted.
    static let freeBytes = 8 * 1024

    private let total: Int
    private let perSource: Int
    private let used = NIOLockedValueBox(0)
    private let refusals = NIOLockedValueBox(0)

    /// The counted bytes of one source.
    final class Share: Sendable {
        fileprivate struct State {
            var used = 0
            /// Whether the limit of one source applies.
            var isLimited: Bool
        }

        fileprivate let state: NIOLockedValueBox<State>

        init(isLimited: Bool) { state = NIOLockedValueBox(State(isLimited: isLimited)) }

        /// Applies the limit of one source from now on, or lifts it.
        func limit(_ isLimited: Bool) { state.withLockedValue { $0.isLimited = isLimited } }
    }

    init(total: Int = 64 << 20, perSource: Int = 8 << 20) {
        self.total = total
        self.perSource = perSource
    }

    var usedBytes: Int { used.withLockedValue { $0 } }

    /// The number of times that `take` returned false.
    var refusedBodies: Int { refusals.withLockedValue { $0 } }

    /// Counts bytes of a body.
    ///
    /// - Returns: False if the bytes would exceed a limit. They are not counted in this case.
    func take(_ count: Int, for share: Share) -> Bool {
        let ofAll = used.withLockedValue { used in
            used += count
            return used
        }
        let ofSource = share.state.withLockedValue { state in
            state.used += count
            return state
        }
        if ofAll <= total, ofSource.used <= perSource || !ofSource.isLimited { return true }
        giveBack(count, for: share)
        refusals.withLockedValue { $0 += 1 }
        return false
    }

    /// Releases counted bytes.
    func giveBack(_ count: Int, for share: Share) {
        used.withLockedValue { $0 -= count }
        share.state.withLockedValue { $0.used -= count }
    }
}
