@_spi(Counterfoil) import CounterfoilProtocol
import Dispatch
import Foundation
import NIOCore

/// DNS lookups for several parties, in which a slow lookup cannot delay the others for long.
///
/// A party is the developer or client that has named the host; each party has at most `Limits.perParty` lookups at a
/// time. Each lookup runs on a separate thread, because `getaddrinfo` cannot be cancelled. A lookup that exceeds its
/// time limit keeps its thread and counts as hanging. Up to `Limits.hanging` lookups may hang without preventing
/// lookups of other parties from starting.
final class HostResolver: Sendable {
    struct Limits: Sendable {
        /// The maximum number of lookups that run at once.
        var running = 4
        /// The number of hanging lookups that are tolerated; each further one counts as running.
        var hanging = 32
        /// The maximum number of running and hanging lookups of one party.
        var perParty = 2
        /// The maximum number of waiting lookups; a further one fails with `busy`.
        var waiting = 64
    }

    enum Answer: Sendable {
        /// The addresses of the name; empty if the name is unknown.
        case found([[UInt8]])
        /// DNS did not answer this lookup in time, or did not answer earlier lookups of the same party, for which this
        /// one had to wait.
        case timedOut
        /// Too many lookups wait, or lookups of other parties used every thread until the time limit.
        case busy
    }

    private enum Phase { case waiting, running, hanging }

    private struct Lookup {
        let host: String
        let party: String
        let answer: FirstAnswer<Answer>
        var phase = Phase.waiting
    }

    private struct State {
        var lookups: [Int: Lookup] = [:]
        var waiting: [Int] = []
        /// The number of lookups of each party that run or hang.
        var held: [String: Int] = [:]
        var running = 0
        var hanging = 0
        var count = 0
    }

    private let limits: Limits
    private let lookUp: @Sendable (String) -> [[UInt8]]
    private let timer: DispatchQueue
    private let state = Mutex(State())

    init(label: String, limits: Limits = Limits(), lookUp: @escaping @Sendable (String) -> [[UInt8]]) {
        self.limits = limits
        self.lookUp = lookUp
        timer = DispatchQueue(label: label)
    }

    /// Resolves a host name; the time limit includes the time that the lookup waits for a thread.
    func addresses(of host: String, for party: String, within limit: TimeAmount) async -> Answer {
        await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            let number: Int? = state.withLock { state in
                guard state.waiting.count < limits.waiting else { return nil }
                state.count += 1
                state.lookups[state.count] = Lookup(host: host, party: party, answer: answer)
                state.waiting.append(state.count)
                return state.count
            }
            guard let number else { return answer.give(.busy) }
            timer.asyncAfter(deadline: .now() + .nanoseconds(Int(limit.nanoseconds))) { self.expire(number) }
            startNext()
        }
    }

    /// Starts waiting lookups, oldest first, while the limits allow it.
    private func startNext() {
        let started: [(number: Int, host: String)] = state.withLock { state in
            var started: [(number: Int, host: String)] = []
            while state.running + max(0, state.hanging - limits.hanging) < limits.running,
                let index = state.waiting.firstIndex(where: { number in
                    state.lookups[number].map { state.held[$0.party, default: 0] < limits.perParty } ?? true
                })
            {
                let number = state.waiting.remove(at: index)
                guard var lookUp = state.lookups[number] else { continue }
                lookUp.phase = .running
                state.lookups[number] = lookUp
                state.held[lookUp.party, default: 0] += 1
                state.running += 1
                started.append((number, lookUp.host))
            }
            return started
        }
        for (number, host) in started {
            Thread.detachNewThread { self.finish(number, with: self.lookUp(host)) }
        }
    }

    private func finish(_ number: Int, with addresses: [[UInt8]]) {
        let lookUp = state.withLock { state in
            let lookUp = state.lookups.removeValue(forKey: number)
            switch lookUp?.phase {
            case .running: state.running -= 1
            case .hanging: state.hanging -= 1
            case .waiting, nil: break
            }
            if let party = lookUp?.party {
                let held = state.held[party, default: 0] - 1
                state.held[party] = held > 0 ? held : nil
            }
            return lookUp
        }
        lookUp?.answer.give(.found(addresses))
        startNext()
    }

    private func expire(_ number: Int) {
        let expired: (FirstAnswer<Answer>, Answer)? = state.withLock { state in
            guard var lookUp = state.lookups[number] else { return nil }
            switch lookUp.phase {
            case .waiting:
                state.lookups[number] = nil
                state.waiting.removeAll { $0 == number }
                return (
                    lookUp.answer, state.held[lookUp.party, default: 0] < limits.perParty ? .busy : .timedOut
                )
            case .running:
                lookUp.phase = .hanging
                state.lookups[number] = lookUp
                state.running -= 1
                state.hanging += 1
                return (lookUp.answer, .timedOut)
            case .hanging: return nil
            }
        }
        guard let (waiting, answer) = expired else { return }
        waiting.give(answer)
        startNext()
    }
}
