import CounterfoilServer
import CounterfoilStore
import Logging

/// A fault of the store that can last for many rounds, which is logged once until it ends.
struct LastingFault {
    private var isLogged = false

    mutating func end() { isLogged = false }

    mutating func log(_ message: Logger.Message, _ fault: StoreFault, to logger: Logger) {
        if !isLogged { logger.error(message, metadata: ["error": "\(fault)"]) }
        isLogged = true
    }
}
