import NIOCore

/// Closes an HTTP/1.1 connection on which nothing has happened for some time.
///
/// The end of a response starts the timer, unless it runs. It compares its time with that of the last change of the
/// phase, so that a connection schedules one task in that time and not one for each request.
final class IdleTimer {
    /// The time after which an idle connection is closed.
    ///
    /// It bounds how long a silent client holds a descriptor.
    private static let limit = TimeAmount.seconds(30)

    private let connection: OpenConnection
    private let limit: TimeAmount
    private var task: Scheduled<Void>?

    init(_ connection: OpenConnection, limit: TimeAmount = IdleTimer.limit) {
        self.connection = connection
        self.limit = limit
    }

    /// Starts the timer, unless it runs.
    func start(_ context: ChannelHandlerContext) { if task == nil { start(context, in: limit) } }

    private func start(_ context: ChannelHandlerContext, in time: TimeAmount) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        task = context.eventLoop.scheduleTask(in: time) {
            let (timer, context) = bound.value
            timer.check(context)
        }
    }

    func cancel() {
        task?.cancel()
        task = nil
    }

    private func check(_ context: ChannelHandlerContext) {
        task = nil
        let (phase, since) = connection.current
        // The response starts the timer again.
        guard phase != .answering else { return }
        let left = NIODeadline.uptimeNanoseconds(since) + limit - .now()
        if left <= .zero { context.close(promise: nil) } else { start(context, in: left) }
    }
}
