@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// Receives logout notifications in place of clients.
final class NoticeReceiver: LogoutNoticeSender {
    private let state = Mutex<(notices: [LogoutNotice], outcome: LogoutNoticeOutcome)>(([], .answered(status: 200)))

    var notices: [LogoutNotice] { state.withLock { $0.notices } }

    func answers(_ outcome: LogoutNoticeOutcome) { state.withLock { $0.outcome = outcome } }

    func send(_ notice: LogoutNotice) async -> LogoutNoticeOutcome {
        state.withLock { state in
            state.notices.append(notice)
            return state.outcome
        }
    }
}
