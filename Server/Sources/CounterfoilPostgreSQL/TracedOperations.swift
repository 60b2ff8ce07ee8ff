import CounterfoilSQL
import CounterfoilStore

extension PostgreSQLStore {
    /// Commits otherwise than by `SQLStore.commit`, in a span of its own.
    func traced<Value: Sendable>(
        function: StaticString = #function, _ operation: () async throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        guard let span = database.request?.span.begin(.store(.commit, function, in: .postgresql)) else {
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
