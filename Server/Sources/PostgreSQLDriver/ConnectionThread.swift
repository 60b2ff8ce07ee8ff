import Foundation

/// A thread with one connection, which no other thread uses.
struct ConnectionThread: Sendable {
    let index: Int
    let uri: ConnectionURI
    let settings: ConnectionThreads.Settings
    let clock: DatabaseClock
    let schedule: Schedule

    func start() {
        let thread = Thread { work() }
        thread.name = "PostgreSQL \(index)"
        thread.start()
    }

    private func work() {
        var connection: Connection?
        var situation = Schedule.Situation(index: index)
        var backOff = BackOff(first: settings.firstPause, limit: settings.longestPause)
        while true {
            switch schedule.next(situation) {
            case .run(let job):
                guard let current = connection, let failovers = situation.connection?.failovers else { continue }
                run(job, on: current, failovers: failovers)
                guard !current.isUsable else { continue }
                connection = nil
                situation.connection = nil
            case .connect:
                do {
                    let opened = try Connection.open(uri, limits: settings.limits)
                    clock.note(opened.clock)
                    let lifetime = settings.lifetime * Double.random(in: 0.8...1)
                    situation.connection = (schedule.connected(index), .now + lifetime)
                    situation.pauseEnd = nil
                    backOff.reset()
                    connection = opened.connection
                } catch {
                    situation.pauseEnd = .now + backOff.next()
                    schedule.failedToConnect(index, reason: settings.describe(error))
                }
            case .disconnect:
                connection?.close()
                connection = nil
                situation.connection = nil
            case .wait(let end):
                schedule.wait(index, until: end)
            case .end:
                connection?.close()
                return
            }
        }
    }

    private func run(_ job: Job, on connection: Connection, failovers: Int) {
        // After a restart of the server, every idle connection is dead. None of them is a try.
        guard (try? connection.checkIdle()) != nil else {
            schedule.disconnected(failovers)
            return schedule.putBack(job)
        }
        let end = job.run(connection, job.unconfirmed)
        if connection.makesOthersUseless { schedule.dropConnections(failovers) }
        if connection.isUsable, clock.claimMeasurement() {
            connection.measureClock().map(clock.note)
        }
        if !connection.isUsable { schedule.disconnected(failovers) }
        schedule.resubmit(job, after: end)
    }
}

extension Schedule {
    /// Starts a thread that refuses the jobs whose deadline passes while all connections are busy.
    func startDeadlineWatch() {
        let thread = Thread { while self.watchDeadlines() {} }
        thread.name = "PostgreSQL deadlines"
        thread.start()
    }
}

extension Connection {
    /// Asks the database for its time; nil if it does not answer soon.
    fileprivate func measureClock() -> ClockMeasurement? {
        let start = ContinuousClock.now
        let rows = try? exchange([Statement("SELECT \(ClockMeasurement.sql)")], by: start + .seconds(2))
        guard let time = try? rows?.first?.first({ columns in try columns.integer() }) else { return nil }
        return ClockMeasurement(sentAt: start, receivedAt: .now, microseconds: time)
    }
}
