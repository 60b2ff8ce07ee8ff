import CounterfoilClient
import CounterfoilProtocol
import Foundation
import Synchronization

/// Ends the program, which the engine takes for a finding, unless something holds.
func require(_ holds: Bool, _ what: @autoclosure () -> String) {
    guard !holds else { return }
    FileHandle.standardError.write(Data("property violated: \(what())\n".utf8))
    abort()
}

/// Whether a text can be shown on a terminal as it is.
func isSafeToShow(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: false
        default: true
        }
    }
}

/// Waits for work of which the parsers are a part; the engine calls one input at a time, on a thread of its own.
func waiting<Value: Sendable>(for work: @escaping @Sendable () async -> Value) -> Value {
    let result = Outcome<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        let value = await work()
        result.value.withLock { $0 = value }
        done.signal()
    }
    done.wait()
    guard let value = result.value.withLock({ $0 }) else { abort() }
    return value
}

/// What came of some work.
private final class Outcome<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}
