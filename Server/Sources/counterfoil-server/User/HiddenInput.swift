import Dispatch
import Foundation

/// A terminal at standard input that does not show what the user types.
enum HiddenInput {
    /// The signals that end the program, and restore the terminal before.
    private static let endings = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]

    /// Runs work while the terminal shows only the line ends of what the user types.
    ///
    /// The previous settings are restored when the work ends, and before a signal such as Control-C ends the program.
    static func whileReading<Value>(_ work: () throws -> Value) rethrows -> Value {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return try work() }
        let former = settings
        let sources = endings.map { number in
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler {
                set(former)
                // A shell reports the death by a signal as this exit code.
                _exit(128 + number)
            }
            source.resume()
            return source
        }
        defer {
            set(former)
            for source in sources { source.cancel() }
            for number in endings { signal(number, SIG_DFL) }
        }
        settings.c_lflag &= ~tcflag_t(ECHO)
        settings.c_lflag |= tcflag_t(ECHONL)
        set(settings)
        return try work()
    }

    private static func set(_ settings: termios) {
        var settings = settings
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
}
