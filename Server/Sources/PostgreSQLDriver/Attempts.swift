/// The end of one attempt to carry out a request on one connection.
enum AttemptEnd<Value> {
    /// The transaction is committed, or has only read.
    case success(Value)
    /// Nothing was changed, and another attempt would not help.
    case failed(any Error)
    /// Nothing was changed, and another connection may try again.
    case again(reason: String)
    /// The server may have committed.
    case unknown(reason: String)

    /// Returns the end with another value.
    func map<Other>(_ transform: (Value) -> Other) -> AttemptEnd<Other> {
        switch self {
        case .success(let value): .success(transform(value))
        case .failed(let error): .failed(error)
        case .again(let reason): .again(reason: reason)
        case .unknown(let reason): .unknown(reason: reason)
        }
    }
}

extension Connection {
    /// Runs a closure in a transaction, or reads without one if there is no opening.
    ///
    /// After a serialization failure or a deadlock, it runs again until the deadline, so it must do nothing but run
    /// statements and compute.
    func attempt<Value>(
        _ opening: TransactionOpening?, by deadline: ContinuousClock.Instant,
        _ body: (inout Transaction) throws -> Value
    ) -> AttemptEnd<Value> {
        repeated(opening, by: deadline) { conflicts in
            beginTransaction()
            var transaction = Transaction(on: self, opening?.after(conflicts: conflicts), by: deadline)
            do {
                let value = try body(&transaction)
                // If the closure has caught an error, this throws it.
                try transaction.commit()
                return .success(value)
            } catch let failure as Transaction.UnknownCommit {
                transaction.rollBack()
                // Reads can be run again.
                return opening == nil ? .again(reason: failure.reason) : .unknown(reason: failure.reason)
            } catch {
                transaction.rollBack()
                guard !transaction.isCommitted else { return .unknown(reason: Self.unread(error)) }
                throw error
            }
        }
    }

    /// The reason for which the result of a commit that has happened is unknown.
    private static func unread(_ error: any Error) -> String {
        let reason = (error as? any LoggableError)?.description ?? "unexpected failure: \(type(of: error))"
        return "the commit succeeded, but its result cannot be read: \(reason)"
    }

    /// Runs statements as one transaction in one round trip, and reads their rows after the commit.
    ///
    /// - Parameters:
    ///   - statements: The statements, the only ones of the transaction.
    ///   - deadline: The time at which the connection is closed if the answer is incomplete.
    ///   - onlyReads: Whether the statements change nothing, so that they can be sent a second time.
    ///   - read: The function that makes the outcome of the rows of each statement.
    func attempt<Value>(
        _ statements: [Statement], by deadline: ContinuousClock.Instant, onlyReads: Bool = false,
        _ read: ([Rows]) throws -> Value
    ) -> AttemptEnd<Value> {
        repeated(nil, by: deadline) { _ in
            let rows: [Rows]
            do {
                rows = try exchange(statements, by: deadline)
            } catch let loss as ConnectionLoss where loss.isAfterEnd && !onlyReads {
                return .unknown(reason: loss.reason)
            } catch let error as ServerError where error.state.leavesCommitUnknown && !onlyReads {
                return .unknown(reason: error.description)
            }
            if skippedReplication && !onlyReads { return .unknown(reason: Transaction.skipped) }
            do {
                return .success(try read(rows))
            } catch  where !onlyReads {
                // The commit has happened, so this must not look like a commit that has changed nothing.
                return .unknown(reason: Self.unread(error))
            }
        }
    }

    /// Calls a function again after each conflict with another transaction, until the deadline, with the number of
    /// conflicts.
    private func repeated<Value>(
        _ opening: TransactionOpening?, by deadline: ContinuousClock.Instant,
        _ attempt: (_ conflicts: Int) throws -> AttemptEnd<Value>
    ) -> AttemptEnd<Value> {
        var conflicts = 0
        var backOff = BackOff(first: .milliseconds(2), limit: .milliseconds(100))
        while true {
            do {
                return try attempt(conflicts)
            } catch let error as ServerError
                where error.state.allowsRepetition || opening?.conflicts(by: error.state, after: conflicts) == true
            {
                conflicts += 1
                let pause = backOff.next()
                guard isUsable, .now + pause + Job.leastTime < deadline else { return .failed(error.fault) }
                BackOff.sleep(pause)
            } catch let error as ServerError where error.state == .readOnlyTransaction {
                // The primary has become a standby; another connection finds the new primary.
                close()
                return .again(reason: error.description)
            } catch let error as ServerError where error.needsNewConnection {
                close()
                return .again(reason: error.description)
            } catch let error as ServerError {
                return .failed(error.fault)
            } catch let loss as ConnectionLoss {
                return .again(reason: loss.reason)
            } catch {
                return .failed(error)
            }
        }
    }
}
