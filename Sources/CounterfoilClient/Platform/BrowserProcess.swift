#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    import Foundation

    /// These systems start no programs; an application opens the address through its own receiver.
    enum BrowserProcess {
        static func run(_ program: URL, arguments: [String], environment: [String: String]) async -> BrowserLaunch {
            .failed("cannot be started by an application")
        }
    }
#else
    import Foundation

    /// A browser's process: started with an argument vector, watched until it ends or nobody waits any more.
    enum BrowserProcess {
        static func run(_ program: URL, arguments: [String], environment: [String: String]) async -> BrowserLaunch {
            let process = Process()
            process.executableURL = program
            process.arguments = arguments
            process.environment = environment
            // Standard output belongs to the program that signs in, and browsers chatter.
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice

            // A launcher such as xdg-open ends at once and tells whether it worked; a browser started directly stays.
            let (ends, end) = AsyncStream.makeStream(of: Int32.self)
            process.terminationHandler = { finished in
                end.yield(finished.terminationStatus)
                end.finish()
            }
            do { try withAllSignals { try process.run() } } catch { return .failed("cannot be started") }
            for await status in ends {
                return status == 0 ? .launched : .failed("ended with status \(status)")
            }
            return .launched
        }

        /// Runs work with no signal blocked.
        ///
        /// A process inherits the mask of the thread that starts it, and the threads of tasks block nearly everything: a
        /// browser started from one could not be asked to end.
        private static func withAllSignals(_ work: () throws -> Void) rethrows {
            var none = sigset_t()
            var former = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, &former)
            defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
            try work()
        }
    }
#endif
