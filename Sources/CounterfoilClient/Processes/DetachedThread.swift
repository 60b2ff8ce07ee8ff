import CounterfoilPlatform

/// A thread of its own for work that blocks, so that the work does not occupy a thread of Swift tasks.
package enum DetachedThread {
    /// Starts a thread that runs `body` and then ends; returns false if the system allows no further thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Body(body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Glibc)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        #if canImport(Darwin)
            let status = pthread_create(&thread, &attributes, { Body.run($0) }, box.toOpaque())
        #else
            let status = pthread_create(
                &thread, &attributes,
                { pointer in
                    guard let pointer else { return nil }
                    return Body.run(pointer)
                }, box.toOpaque())
        #endif
        if status != 0 { box.release() }
        return status == 0
    }

    /// Runs work that blocks and returns its result; runs the work on this thread if the system allows no other.
    package static func result<Success: Sendable>(of work: @escaping @Sendable () -> Success) async -> Success {
        await withCheckedContinuation { continuation in
            if !start({ continuation.resume(returning: work()) }) { continuation.resume(returning: work()) }
        }
    }

    private final class Body: Sendable {
        private let work: @Sendable () -> Void

        init(_ work: @escaping @Sendable () -> Void) { self.work = work }

        static func run(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
            Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().work()
            return nil
        }
    }
}
