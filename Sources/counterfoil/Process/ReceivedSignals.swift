import CounterfoilClient
import CounterfoilPlatform

/// The signals that this process receives, from ``init(_:_:)`` until ``end()``.
///
/// A handler that the system calls may do almost nothing, so it only passes the signal to a thread. A later value takes
/// the signals over.
final class ReceivedSignals: Sendable {
    /// A signal that this process received.
    struct Signal: Sendable {
        let number: Int32
        /// Whether a process sent it to this one alone; false for Control-C, which the terminal sends to every process
        /// in the foreground.
        let isAddressed: Bool
    }

    private let numbers: [Int32]
    private let waking: Int32
    private let ended: Int32

    /// Receives signals from now on, except for those that the process was started to ignore, as under `nohup`; nil if
    /// the system has no resources for it.
    init?(_ numbers: [Int32], _ receive: @escaping @Sendable (Signal) -> Void) {
        var (signals, end): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&signals) == 0 else { return nil }
        guard pipe(&end) == 0 else {
            for descriptor in signals { close(descriptor) }
            return nil
        }
        for descriptor in signals + end { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        // A handler must not wait, not even if the thread is slow.
        _ = fcntl(signals[1], F_SETFL, O_NONBLOCK)
        let (source, ending) = (signals[0], end[1])
        _ = DetachedThread.start {
            var pair: [UInt8] = [0, 0]
            while true {
                let count = read(source, &pair, 2)
                if count < 0, errno == EINTR { continue }
                guard count == 2, pair[0] > 0 else { break }
                receive(Signal(number: Int32(pair[0]), isAddressed: pair[1] == 1))
            }
            close(source)
            close(ending)
        }
        waking = signals[1]
        ended = end[0]
        receivingEnd = signals[1]
        self.numbers = numbers.filter { !Self.isIgnored($0) }
        for number in self.numbers { Self.handle(number) }
    }

    /// Whether a value exists.
    static var areReceived: Bool { receivingEnd >= 0 }

    /// Restores the default actions of the signals; every signal that has arrived has been received then.
    ///
    /// Returns false, and restores nothing, if a later value has taken the signals over.
    @discardableResult
    func end() -> Bool {
        let isLatest = receivingEnd == waking
        if isLatest {
            for number in numbers { signal(number, SIG_DFL) }
            receivingEnd = -1
        }
        let last: [UInt8] = [0, 0]
        _ = write(waking, last, 2)
        var byte: UInt8 = 0
        while read(ended, &byte, 1) < 0 && errno == EINTR {}
        close(waking)
        close(ended)
        return isLatest
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let current = signal(number, SIG_IGN)
        signal(number, current)
        return unsafeBitCast(current, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func handle(_ number: Int32) {
        var action = sigaction()
        action.sa_flags = SA_SIGINFO | SA_RESTART
        #if canImport(Darwin)
            action.__sigaction_u.__sa_sigaction = passOn
        #elseif canImport(Musl)
            action.__sa_handler.sa_sigaction = passOn
        #else
            action.__sigaction_handler.sa_sigaction = passOn
        #endif
        sigaction(number, &action, nil)
    }
}

/// The descriptor at which the handler reaches the thread of ``ReceivedSignals``; -1 if there is no thread.
private nonisolated(unsafe) var receivingEnd: Int32 = -1

/// The handler: passes a signal and its origin to the thread.
///
/// It calls only functions that are safe in a handler, and keeps `errno` of the interrupted code.
private func passOn(number: Int32, information: UnsafeMutablePointer<siginfo_t>?, context: UnsafeMutableRawPointer?) {
    let former = errno
    #if canImport(Darwin)
        let isAddressed = information?.pointee.si_code == SI_USER
    #else
        let isAddressed = (information?.pointee.si_code ?? 1) <= 0
    #endif
    var pair = (UInt8(truncatingIfNeeded: number), UInt8(isAddressed ? 1 : 0))
    _ = write(receivingEnd, &pair, 2)
    errno = former
}
