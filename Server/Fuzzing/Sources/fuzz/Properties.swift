import CounterfoilClient
import CounterfoilProtocol
import Foundation
import Synchronization

/// Aborts the program if a property does not hold; the engine reports this as a crash.
func require(_ holds: Bool, _ what: @autoclosure () -> String) {
    guard !holds else { return }
    FileHandle.standardError.write(Data("property violated: \(what())\n".utf8))
    abort()
}

/// Checks whether a text can be printed on a terminal unchanged.
func isSafeToShow(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: false
        default: true
        }
    }
}

/// Blocks until asynchronous work ends; the engine runs one input at a time, on a thread of its own.
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

/// The result of asynchronous work.
private final class Outcome<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}
