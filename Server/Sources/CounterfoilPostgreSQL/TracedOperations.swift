import CounterfoilSQL
import CounterfoilStore

extension PostgreSQLStore {
    /// Runs an operation that does not go through `SQLStore.read` and `commit`, in a span of its own.
    func traced<Value: Sendable>(
        _ access: StoreMeter.Operation, function: StaticString = #function,
        _ operation: () async throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        guard let span = database.request?.span.begin(.store(access, function, in: .postgresql)) else {
            return try await operation()
        }
        do {
            let value = try await operation()
            span.end()
            return value
        } catch {
            span.end(failing: StoreMeter.Fault(error).rawValue)
            throw error
        }
    }
}
