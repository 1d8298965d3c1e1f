//! How a simulated pod behaves: pure, shared by the embedded cluster and the forecast.
